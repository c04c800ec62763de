/* SPDX-License-Identifier: Apache-2.0 */
/* The inline part of kernel/core/cpu.h. ARMv7 ARM = Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition, DDI 0406C. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/guest.h"
#include "frame.h"
#include "sysreg.h"

static inline void cpu_interrupts_enable(void)
{
	__asm__ volatile("cpsie i" ::: "memory");
}

static inline void cpu_touch_stack(void)
{
	uint32_t at;

	__asm__ volatile("sub %0, sp, %1\n\tldr %0, [%0]" : "=r"(at) : "i"(CPU_KERNEL_STACK_BYTES) : "memory");
}

static inline bool cpu_interrupts_disable(void)
{
	uint32_t cpsr;

	cpu_touch_stack();
	__asm__ volatile("mrs %0, cpsr\n\tcpsid i" : "=r"(cpsr)::"memory");
	return !(cpsr & CPSR_I);
}

static inline void cpu_interrupts_restore(bool enabled)
{
	if (enabled)
		cpu_interrupts_enable();
}

/* WFI ends for a masked interrupt too (ARMv7 ARM B1.8.14 "Wait For Interrupt"); unmasked, it is taken. */
static inline void cpu_sleep(void)
{
	__asm__ volatile("dsb sy\n\twfi\n\tcpsie i\n\tisb\n\tcpsid i" ::: "memory");
}

static inline bool cpu_sleep_before_interrupt(void)
{
	__asm__ volatile("dsb sy\n\twfi" ::: "memory");
	return true;
}

/* A 32-bit call: numbers of 64-bit ones lose the bit that says so (abi/guest.h). */
static inline uint64_t cpu_call_monitor(uint64_t function, uint64_t a, uint64_t b, uint64_t c)
{
	register uint32_t r0 __asm__("r0") = (uint32_t)function & ~(uint32_t)BH_CALL_64;
	register uint32_t r1 __asm__("r1") = (uint32_t)a;
	register uint32_t r2 __asm__("r2") = (uint32_t)b;
	register uint32_t r3 __asm__("r3") = (uint32_t)c;

	__asm__ volatile("hvc #0" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r3) : "memory");
	return (uint64_t)(int32_t)r0;
}

/* cpu_init and start.S leave it there. */
static inline unsigned cpu_slot(void)
{
	return SYSREG_READ(TPIDRPRW);
}
