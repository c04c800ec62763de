/* SPDX-License-Identifier: Apache-2.0 */
/* The inline part of kernel/core/cpu.h. Arm ARM = Arm Architecture Reference Manual for A-profile, DDI 0487. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "sysreg.h"

enum { PSTATE_I = 1 << 7 };

static inline void cpu_interrupts_enable(void)
{
	__asm__ volatile("msr daifclr, #2" ::: "memory");
}

static inline void cpu_touch_stack(void)
{
	uint64_t at;

	__asm__ volatile("sub %0, sp, %1\n\tldr xzr, [%0]" : "=r"(at) : "i"(CPU_KERNEL_STACK_BYTES) : "memory");
}

static inline bool cpu_interrupts_disable(void)
{
	uint64_t daif;

	cpu_touch_stack();
	daif = SYSREG_READ(daif);
	__asm__ volatile("msr daifset, #2" ::: "memory");
	return !(daif & PSTATE_I);
}

static inline void cpu_interrupts_restore(bool enabled)
{
	if (enabled)
		cpu_interrupts_enable();
}

/* WFI ends for a masked interrupt too (Arm ARM, chapter D1, "Wait for Interrupt mechanism"); unmasked, it is taken. */
static inline void cpu_sleep(void)
{
	__asm__ volatile("dsb sy\n\twfi\n\tmsr daifclr, #2\n\tisb\n\tmsr daifset, #2" ::: "memory");
}

static inline bool cpu_sleep_before_interrupt(void)
{
	__asm__ volatile("dsb sy\n\twfi" ::: "memory");
	return true;
}

static inline uint64_t cpu_call_monitor(uint64_t function, uint64_t a, uint64_t b, uint64_t c)
{
	register uint64_t x0 __asm__("x0") = function;
	register uint64_t x1 __asm__("x1") = a;
	register uint64_t x2 __asm__("x2") = b;
	register uint64_t x3 __asm__("x3") = c;

	__asm__ volatile("hvc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}

/* cpu_init and start.S leave it there. */
static inline unsigned cpu_slot(void)
{
	return (unsigned)SYSREG_READ(tpidr_el1);
}
