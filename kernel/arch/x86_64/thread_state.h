/* SPDX-License-Identifier: Apache-2.0 */
/* What cpu_switch leaves on a thread's stack (switch.S). The named ones: thread_start there. */
#pragma once

#include <stdint.h>

struct thread_state {
	uint64_t r15, r14, r13;
	uintptr_t argument, entry, begin; /* R12, RBP, RBX */
	uintptr_t start;                  /* where RET goes; then the stack is aligned to 16 bytes, as before a call */
};
_Static_assert(sizeof(struct thread_state) == 7 * sizeof(uint64_t), "switch.S");
