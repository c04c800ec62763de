/* SPDX-License-Identifier: Apache-2.0 */
/* What a program in user mode has besides its frame: kernel/core/user.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct cpu_fp {
	uint64_t d[32];
	uint32_t fpscr;
};
_Static_assert(offsetof(struct cpu_fp, fpscr) == 256, "fp.S stores it last");

struct cpu_user {
	struct cpu_fp fp;
	uint32_t tpidrurw;
	uint32_t tpidruro; /* which a program may only read: its thread pointer, by the run-time ABI for the Arm architecture, IHI 0043 */
};
