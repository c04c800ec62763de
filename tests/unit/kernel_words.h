/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the formats of the sandbox kernel's tables, as literals from the manuals, and where parts begin. */
#pragma once
#include "kernel/core/space_format.h"

#define GIB (1ULL << 30)

static const struct {
	uint64_t leaf[SPACE_KINDS], large, page, user_part, end, user_start, grants_end;
	unsigned levels, root_shift;
} words =
#if defined(X86_64)
	{
		/* APM vol. 2, 5.3.3 and 5.4.1: P, A; D and R/W; U/S; PCD and PWT; NX */
		.leaf = { 0x21, 0x8000000000000021, 0x8000000000000063, 0x800000000000007b, /* the kernel's */
			  0x25, 0x8000000000000025, 0x8000000000000067, 0x800000000000007f },
		.large = 0x80,
		.page = 0,
		.user_part = 0,
		.end = 0x7ffffffff000,
		.user_start = 512 * GIB,
		.grants_end = 256 * GIB,
		.levels = 4,
		.root_shift = 39,
	};
#elif defined(AARCH64)
	{
		/* Arm ARM D8.3: AttrIndx, AP, SH, AF; PXN and UXN */
		.leaf = { 0x0040000000000784, 0x0060000000000784, 0x0060000000000704, 0x0060000000000400, /* the kernel's */
			  0x00200000000007c4, 0x00600000000007c4, 0x0060000000000744, 0x0060000000000440 },
		.large = 1,
		.page = 3,
		.user_part = 0x800, /* nG */
		.end = 512 * GIB,
		.user_start = 256 * GIB,
		.grants_end = 256 * GIB,
		.levels = 3,
		.root_shift = 30,
	};
#else
	{
		/* ARMv7 ARM B3.6.2: the same with one XN */
		.leaf = { 0x0000000000000784, 0x0040000000000784, 0x0040000000000704, 0x0040000000000400, /* the kernel's */
			  0x00200000000007c4, 0x00400000000007c4, 0x0040000000000744, 0x0040000000000440 },
		.large = 1,
		.page = 3,
		.user_part = 0x800,
		.end = 4 * GIB,
		.user_start = 2 * GIB,
		.grants_end = 2 * GIB,
		.levels = 3,
		.root_shift = 30,
	};
#endif
