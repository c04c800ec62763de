/* SPDX-License-Identifier: Apache-2.0 */
/* The inline part of arch.h, x86-64. */
#pragma once
#include <stddef.h>
#include <stdint.h>

static inline uint64_t arch_counter(void)
{
	uint64_t low, high; /* in 64-bit mode the upper halves of both registers are cleared */

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return high << 32 | low;
}

static inline void arch_relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

static inline void arch_barrier(void)
{
	__asm__ volatile("mfence" : : : "memory");
}

/* In order with writes to the same line. SDM vol. 2A, "CLFLUSH". */
static inline void arch_cache_flush(const void *at)
{
	__asm__ volatile("clflush %0" : : "m"(*(const char *)at) : "memory");
}

static inline void arch_cache_flush_all(void)
{
	__asm__ volatile("wbinvd" : : : "memory");
}

#define ARCH_MMIO(bits)                                                                  \
	static inline uint##bits##_t arch_mmio_read##bits(uint64_t address)              \
	{                                                                                \
		return *(volatile uint##bits##_t *)(uintptr_t)address;                   \
	}                                                                                \
	static inline void arch_mmio_write##bits(uint64_t address, uint##bits##_t value) \
	{                                                                                \
		*(volatile uint##bits##_t *)(uintptr_t)address = value;                  \
	}
ARCH_MMIO(8)
ARCH_MMIO(16)
ARCH_MMIO(32)
ARCH_MMIO(64)
#undef ARCH_MMIO

/* wide_boot.c */
size_t arch_words_repeat(uint64_t *start, size_t words, const uint64_t *pattern);
size_t arch_words_copy(uint64_t *target, const uint64_t *source, size_t words);
