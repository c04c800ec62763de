/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of threads: each with a page below that is mapped nowhere, at addresses above everything that was granted. */
#pragma once
#include <stdint.h>

/*
 * Returns the end of a new stack of THREAD_STACK_BYTES, or 0 if there is no frame, or no address, for it. Its memory lies elsewhere than
 * its addresses say: a device cannot be given them. Any core, in the main program or a thread.
 */
uintptr_t stacks_take(void);
