/* SPDX-License-Identifier: Apache-2.0 */
/* The inline part of arch/arch.h for RISC-V with 64 bits; contracts there. */
#pragma once
#include <stddef.h>
#include <stdint.h>

static inline uint64_t arch_counter(void)
{
	uint64_t value;

	__asm__ volatile("rdtime %0" : "=r"(value));
	return value;
}

static inline void arch_relax(void)
{
	__asm__ volatile("nop");
}

static inline void arch_barrier(void)
{
	__asm__ volatile("fence iorw, iorw" : : : "memory");
}

#define ARCH_MMIO(bits, load, store)                                                                    \
	static inline uint##bits##_t arch_mmio_read##bits(uint64_t address)                             \
	{                                                                                               \
		uint##bits##_t value;                                                                   \
		__asm__ volatile(load " %0, 0(%1)" : "=r"(value) : "r"(address) : "memory");            \
		return value;                                                                           \
	}                                                                                               \
	static inline void arch_mmio_write##bits(uint64_t address, uint##bits##_t value)                \
	{                                                                                               \
		__asm__ volatile(store " %0, 0(%1)" : : "r"((uint64_t)value), "r"(address) : "memory"); \
	}
ARCH_MMIO(8, "lbu", "sb")
ARCH_MMIO(16, "lhu", "sh")
ARCH_MMIO(32, "lwu", "sw")
ARCH_MMIO(64, "ld", "sd")
#undef ARCH_MMIO

static inline size_t arch_words_repeat(uint64_t *start, size_t words, const uint64_t *pattern)
{
	return 0;
}

static inline size_t arch_words_copy(uint64_t *target, const uint64_t *source, size_t words)
{
	return 0;
}
