/* SPDX-License-Identifier: Apache-2.0 */
/* The inline part of arch/arch.h for ARMv7-A with the virtualization extensions; contracts there. Usable at PL1 and in Hyp mode. */
#pragma once
#include <stddef.h>

#include "sysreg.h"

/* Ordered after earlier instructions: ARMv7 ARM B8.1.3 "The virtual counter" allows the read to be speculated. */
static inline uint64_t arch_counter(void)
{
	arch_isb();
	return SYSREG_READ64(CNTVCT);
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
 * ARMv7 ARM B3.13.6 "Use of the HSR", ISV. Eight bytes take two registers, so no syndrome describes them.
 */
#define ARCH_MMIO(bits, instruction, operand)                                                                                \
	static inline uint##bits##_t arch_mmio_read##bits(uint64_t address)                                                  \
	{                                                                                                                    \
		uint##bits##_t value;                                                                                        \
		__asm__ volatile("ldr" instruction " " operand ", [%1]" : "=r"(value) : "r"((uintptr_t)address) : "memory"); \
		return value;                                                                                                \
	}                                                                                                                    \
	static inline void arch_mmio_write##bits(uint64_t address, uint##bits##_t value)                                     \
	{                                                                                                                    \
		__asm__ volatile("str" instruction " " operand ", [%1]" : : "r"(value), "r"((uintptr_t)address) : "memory"); \
	}
ARCH_MMIO(8, "b", "%0")
ARCH_MMIO(16, "h", "%0")
ARCH_MMIO(32, "", "%0")
ARCH_MMIO(64, "d", "%Q0, %R0")
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
