/* SPDX-License-Identifier: Apache-2.0 */
/* What a further core needs for its first instructions, laid out for start.S, which reads it with its MMU off. */
#pragma once

#define CORE_START_SLOT  0
#define CORE_START_MAIR  16
#define CORE_START_TTBR0 32
#define CORE_START_ENTRY 48

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

#include "sysreg.h"

struct core_start {
	uint64_t slot;
	uint64_t stack_top;
	uint64_t mair;
	uint64_t tcr;
	uint64_t ttbr0;
	uint64_t sctlr;
	uint64_t entry;
	uint64_t vbar;
};
_Static_assert(offsetof(struct core_start, slot) == CORE_START_SLOT, "start.S");
_Static_assert(offsetof(struct core_start, mair) == CORE_START_MAIR, "start.S");
_Static_assert(offsetof(struct core_start, ttbr0) == CORE_START_TTBR0, "start.S");
_Static_assert(offsetof(struct core_start, entry) == CORE_START_ENTRY, "start.S");

/* Translation control and vectors of the calling core; the caller adds the tables, and its vectors; the rest is up to the caller. */
static inline struct core_start core_start_like_this(void)
{
	return (struct core_start){
		.mair = SYSREG_READ(mair_el1),
		.tcr = SYSREG_READ(tcr_el1),
		.sctlr = SYSREG_READ(sctlr_el1),
		.vbar = SYSREG_READ(vbar_el1),
	};
}

/* Cleans the line, which the core will read with its caches off: Arm ARM, "DC CVAC". */
static inline void core_start_publish(const void *line)
{
	__asm__ volatile("dc cvac, %0\n\tdsb sy" ::"r"(line) : "memory");
}
#endif
