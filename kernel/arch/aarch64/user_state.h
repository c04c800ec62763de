/* SPDX-License-Identifier: Apache-2.0 */
/* What a program at EL0 has besides its frame: kernel/core/user.h. */
#pragma once

#define FP_CONTROL 512

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

struct cpu_fp {
	_Alignas(16) uint64_t v[32][2];
	uint64_t fpcr, fpsr;
};
_Static_assert(offsetof(struct cpu_fp, fpcr) == FP_CONTROL, "fp.S");

struct cpu_user {
	struct cpu_fp fp;
	uint64_t tpidr_el0;
	uint64_t tpidrro_el0; /* which a program may only read */
};
#endif
