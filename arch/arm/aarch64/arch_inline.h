/* SPDX-License-Identifier: Apache-2.0 */
/* The inline part of arch/arch.h for AArch64; contracts there. Usable at EL1 and EL2. */
#pragma once
#include <stddef.h>

#include "sysreg.h"

/* Ordered after earlier instructions: ARM ARM D12.2 "The virtual counter" allows the read to be speculated. */
static inline uint64_t arch_counter(void)
{
	arch_isb();
	return SYSREG_READ(CNTVCT_EL0);
}

static inline void arch_relax(void)
{
	__asm__ volatile("yield");
}

static inline void arch_barrier(void)
{
	__asm__ volatile("dsb sy" : : : "memory");
}

/*
 * One load or store each, of a form that a syndrome describes fully should it trap (no writeback, one register):
 * ARM ARM D24.2.37 "ESR_EL1", ISS encoding for an exception from a Data Abort, ISV.
 */
#define ARCH_MMIO(bits, suffix, modifier)                                                                        \
	static inline uint##bits##_t arch_mmio_read##bits(uint64_t address)                                      \
	{                                                                                                        \
		uint##bits##_t value;                                                                            \
		__asm__ volatile("ldr" suffix " %" modifier "0, [%1]" : "=r"(value) : "r"(address) : "memory");  \
		return value;                                                                                    \
	}                                                                                                        \
	static inline void arch_mmio_write##bits(uint64_t address, uint##bits##_t value)                         \
	{                                                                                                        \
		__asm__ volatile("str" suffix " %" modifier "0, [%1]" : : "rZ"(value), "r"(address) : "memory"); \
	}
ARCH_MMIO(8, "b", "w")
ARCH_MMIO(16, "h", "w")
ARCH_MMIO(32, "", "w")
ARCH_MMIO(64, "", "x")
#undef ARCH_MMIO

/* The compiler pairs words by itself. */
static inline size_t arch_words_repeat(uint64_t *start, size_t words, const uint64_t *pattern)
{
	return 0;
}

static inline size_t arch_words_copy(uint64_t *target, const uint64_t *source, size_t words)
{
	return 0;
}
