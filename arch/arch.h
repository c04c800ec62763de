/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every architecture gives the code above it: plain functions with one contract each, chosen when linked. The CPU
 * and nothing of guests. Inline ones stand in <arch>/arch_inline.h; tests/unit/fake_arch.c implements the rest on the host.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "arch_inline.h"
/*
 * arch_inline.h provides:
 *   uint64_t arch_counter(void)            the common time base (CNTVCT, TSC); monotonic on one core
 *   void arch_relax(void)                  hint inside a bounded polling loop (YIELD, PAUSE)
 *   void arch_barrier(void)                full barrier, memory and device (DSB SY, MFENCE)
 *   uint8/16/32/64_t arch_mmio_readN(uint64_t address), void arch_mmio_writeN(uint64_t address, value)   N = 8 16 32 64
 *   void arch_cache_flush(const void *at)  x86: writes back the cache line, for a device that reads memory and looks into no cache
 *   void arch_cache_flush_all(void)        x86, start-up only: every line
 *   size_t arch_words_repeat(uint64_t *start, size_t words, const uint64_t *pattern), arch_words_copy(uint64_t *target, const uint64_t
 *       *source, size_t words)             start-up only, for words.h: write the first words of the range by wide registers, if there are
 *                                          any. Return how many words that were: a multiple of ARCH_PATTERN_WORDS, or 0
 */
enum { ARCH_PATTERN_WORDS = 4 };

/* Start-up only. Writes one character to the board's boot console. Requires: no sandbox runs. */
void arch_boot_putc(char c);

/*
 * Start-up only. Waits, within a bound, until the last character has been sent, and restores the UART: on x86 the line control that
 * start-up found, unless nothing was printed; on ARM it clears the transmit interrupt.
 */
void arch_boot_console_leave(void);

/* Start-up only. Ends the machine where the board can (emulators pass `status` on where they have a way), else halts. */
_Noreturn void arch_machine_off(int status);

/*
 * Start-up only. Returns the modules that a loader brought with the image: how many, and where the last of them lies. There are none where
 * loaders put payload in place. Requires: nothing outside the image has been written, because what the loader left may lie anywhere in RAM.
 */
struct arch_modules {
	uint32_t count;
	uint64_t start, bytes;
};
struct arch_modules arch_boot_modules(void);

/* Stops this core for good, interrupts masked. */
_Noreturn void arch_halt(void);

/* Makes [start, start+size) visible to observers with caches off: cleans it to the point of coherency. Does nothing on x86. */
void arch_cache_clean(const void *start, size_t size);
/*
 * The same for instruction fetch: empties every core's instruction cache. All cores feel that, so only start-up does it. The fake
 * counts calls.
 */
void arch_cache_publish(const void *start, size_t size);
