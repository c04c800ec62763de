/* SPDX-License-Identifier: Apache-2.0 */
/* What cpu_switch leaves on a thread's stack, read from C and assembly. The named ones: thread_start, in switch.S. */
#pragma once

#define THREAD_STATE_BYTES 96

#ifndef __ASSEMBLER__
#include <stdint.h>

struct thread_state {
	uint64_t x29;
	uintptr_t start;                  /* x30 */
	uintptr_t begin, entry, argument; /* x19, x20, x21 */
	uint64_t x22, x23, x24, x25, x26, x27, x28;
};
_Static_assert(sizeof(struct thread_state) == THREAD_STATE_BYTES, "switch.S");
#endif
