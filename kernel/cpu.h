/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sandbox kernel needs of a processor. Inline ones stand in arch/<arch>/cpu_inline.h, the rest in arch/<arch>/.
 * Everything runs in the kernel's own mode (EL1, ring 0) on the sandbox's core.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "arch_inline.h"
#include "cpu_inline.h"
/*
 * cpu_inline.h provides:
 *   void cpu_interrupts_enable(void)
 *   bool cpu_interrupts_disable(void)          -> whether they were enabled
 *   void cpu_interrupts_restore(bool enabled)
 *   void cpu_sleep(void)                       interrupts disabled by the caller; sleeps until one is pending, lets its
 *                                              handler run and returns with interrupts disabled: no wake-up is lost
 *   uint64_t cpu_call_monitor(function, a, b, c)
 */

/* Vectors and, on x86, segments. First of all: what goes wrong afterwards is reported. */
void cpu_init(void);

/* The end of everything on this core: interrupts disabled, asleep. */
_Noreturn void cpu_halt(void);

/*
 * Calls attempt(a, b). true: it returned, its value is in *result. false: it ran into an exception, which fault.c has noted.
 * Does not nest.
 */
bool cpu_attempt(uint64_t (*attempt)(uint64_t a, uint64_t b), uint64_t a, uint64_t b, uint64_t *result);
