/* SPDX-License-Identifier: Apache-2.0 */
/* What cpu_switch leaves on a thread's stack (switch.S). The named ones: thread_start there. */
#pragma once

#include <stdint.h>

struct thread_state {
	uint32_t unused;
	uintptr_t begin, entry, argument; /* r4, r5, r6 */
	uint32_t r7, r8, r9, r10, r11;
	uintptr_t start; /* pc */
};
_Static_assert(sizeof(struct thread_state) == 10 * sizeof(uint32_t), "switch.S");
_Static_assert(sizeof(struct thread_state) % 8 == 0, "the procedure call standard's alignment of a stack");
