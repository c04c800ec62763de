/* SPDX-License-Identifier: Apache-2.0 */
/* What a further core needs for its first instructions, in the order start.S reads it, with its MMU off. */
#pragma once
#include <stdint.h>

#include "sysreg.h"

struct core_start {
	uint32_t slot;
	uint32_t stack_top;
	uint32_t mair0;
	uint32_t ttbcr;
	uint32_t ttbr0; /* tables lie below 4 GiB */
	uint32_t sctlr;
	uint32_t entry;
	uint32_t vbar;
};
_Static_assert(sizeof(struct core_start) == 8 * 4, "start.S loads eight registers");

/* Translation control and vectors of the calling core; the caller adds the tables, and its vectors; the rest is up to the caller. */
static inline struct core_start core_start_like_this(void)
{
	return (struct core_start){
		.mair0 = SYSREG_READ(MAIR0),
		.ttbcr = SYSREG_READ(TTBCR),
		.sctlr = SYSREG_READ(SCTLR),
		.vbar = SYSREG_READ(VBAR),
	};
}

/* Cleans the line, which the core will read with its caches off: ARMv7 ARM B4.2.1 "Cache and branch predictor maintenance operations". */
static inline void core_start_publish(const void *line)
{
	SYSREG_WRITE(DCCMVAC, line);
	__asm__ volatile("dsb sy" ::: "memory");
}
