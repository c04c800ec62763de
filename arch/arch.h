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
 */

/* Start-up only. One character to the board's boot console, never while sandboxes run. */
void arch_boot_putc(char c);

/*
 * Start-up only. Waits, within a bound, until the last character has been sent, and gives the UART back. On x86 the length of a character
 * is again what start-up found; if nothing was printed, nothing is written. On ARM the transmit interrupt of the characters is cleared.
 */
void arch_boot_console_leave(void);

/* Start-up only. Ends the machine where the board can (emulators pass `status` on where they have a way), else halts. */
_Noreturn void arch_machine_off(int status);

/*
 * Start-up only. The modules a loader brought with the image: how many, and where the last of them lies. What the loader
 * left may be anywhere in RAM, so this is asked before anything outside the image is written. None where loaders put
 * payload in place.
 */
struct arch_modules {
	uint32_t count;
	uint64_t start, bytes;
};
struct arch_modules arch_boot_modules(void);

/* Stops this core for good, interrupts masked. */
_Noreturn void arch_halt(void);

/* Makes [start, start+size) visible to observers with caches off: clean to the point of coherency. Nothing to do on x86. */
void arch_cache_clean(const void *start, size_t size);
/*
 * And to instruction fetch: every core's instruction cache is emptied, which all of them feel, so start-up alone does that. The fake
 * counts calls.
 */
void arch_cache_publish(const void *start, size_t size);
