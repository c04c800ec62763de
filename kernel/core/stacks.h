/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of threads: each with a page below that is mapped nowhere, at addresses above everything that was granted. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * Returns the end of a stack of THREAD_STACK_BYTES that this core keeps, or of a new one, or 0 if there is no frame, or no address, for it.
 * Its memory lies elsewhere than its addresses say: a device cannot be given them. Any core, in the main program or a thread.
 */
uintptr_t stacks_take(void);

/* Likewise, but only one that this core keeps, and not the one that the caller runs on. Also in a handler. */
uintptr_t stacks_take_kept(void);

/* This core keeps the stack for the next that takes one, if stacks_take returned it. The caller may run on it to its next switch. */
void stacks_give(uintptr_t stack);

/* Whether the address lies below a stack, where nothing is mapped. */
bool stacks_is_hole(uint64_t address);
