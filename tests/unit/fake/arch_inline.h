/* SPDX-License-Identifier: Apache-2.0 */
/* The architecture of the unit tests: no machine, so what would be instructions are functions that a test can watch. */
#pragma once
#include <stddef.h>
#include <stdint.h>

uint64_t arch_counter(void);
void arch_relax(void);
void arch_barrier(void);
void arch_isb(void);
void arch_wfi(void);
unsigned arch_exception_level(void);
void arch_cache_flush(const void *at);
void arch_cache_flush_all(void);

/* "Registers" are the test's own memory, so that sanitizers see what is read. */
uint8_t arch_mmio_read8(uint64_t address);
uint16_t arch_mmio_read16(uint64_t address);
uint32_t arch_mmio_read32(uint64_t address);
uint64_t arch_mmio_read64(uint64_t address);
void arch_mmio_write8(uint64_t address, uint8_t value);
void arch_mmio_write16(uint64_t address, uint16_t value);
void arch_mmio_write32(uint64_t address, uint32_t value);
void arch_mmio_write64(uint64_t address, uint64_t value);

/* Whole stretches alone, as on a machine with wide registers. */
enum { FAKE_STRETCH_WORDS = 64 };

static inline size_t arch_words_repeat(uint64_t *start, size_t words, const uint64_t *pattern)
{
	size_t done = words - words % FAKE_STRETCH_WORDS;

	for (size_t n = 0; n < done; n++)
		start[n] = pattern[n % 4];
	return done;
}

static inline size_t arch_words_copy(uint64_t *target, const uint64_t *source, size_t words)
{
	size_t done = words - words % FAKE_STRETCH_WORDS;

	for (size_t n = 0; n < done; n++)
		target[n] = source[n];
	return done;
}
