/* SPDX-License-Identifier: Apache-2.0 */
/* What a program in ring 3 has besides its frame: kernel/core/user.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* What FXSAVE writes: SDM vol. 1, 10.5.1 "FXSAVE Area". There is no AVX, as CR4.OSXSAVE is 0. */
struct cpu_fp {
	_Alignas(16) uint16_t fcw;
	uint8_t reserved0[22];
	uint32_t mxcsr;
	uint8_t reserved1[484];
};
_Static_assert(sizeof(struct cpu_fp) == 512 && offsetof(struct cpu_fp, mxcsr) == 24, "hardware structure");

struct cpu_user {
	struct cpu_fp fp;
	uint64_t fs_base; /* thread pointer */
	uint64_t gs_base;
};
