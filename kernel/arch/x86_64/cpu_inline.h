/* SPDX-License-Identifier: Apache-2.0 */
/* The inline part of kernel/core/cpu.h. APM = AMD64 Architecture Programmer's Manual; SDM = Intel 64 and IA-32 Architectures Software
 * Developer's Manual. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "segments.h"
#include "x86.h"

enum { RFLAGS_FIXED = 1 << 1, RFLAGS_IF = 1 << 9 };

static inline void cpu_interrupts_enable(void)
{
	__asm__ volatile("sti" ::: "memory");
}

static inline void cpu_touch_stack(void)
{
	__asm__ volatile("testb $0, %c0(%%rsp)" ::"i"(-CPU_KERNEL_STACK_BYTES) : "memory", "cc");
}

static inline bool cpu_interrupts_disable(void)
{
	uint64_t rflags;

	cpu_touch_stack();
	__asm__ volatile("pushfq\n\tpop %0\n\tcli" : "=r"(rflags)::"memory");
	return rflags & RFLAGS_IF;
}

static inline void cpu_interrupts_restore(bool enabled)
{
	if (enabled)
		cpu_interrupts_enable();
}

/* STI takes effect after the next instruction (APM vol. 3, "STI"): no interrupt gets between it and HLT. */
static inline void cpu_sleep(void)
{
	__asm__ volatile("sti\n\thlt\n\tcli" ::: "memory");
}

/* HLT is ended by an interrupt that is delivered, and by no other. */
static inline bool cpu_sleep_before_interrupt(void)
{
	cpu_sleep();
	return false;
}

extern bool cpu_has_vmcall; /* cpu.c: VMCALL is the instruction that reaches a monitor, else VMMCALL */

static inline uint64_t cpu_call_monitor(uint64_t function, uint64_t a, uint64_t b, uint64_t c)
{
	if (cpu_has_vmcall)
		__asm__ volatile("vmcall" : "+a"(function) : "b"(a), "c"(b), "d"(c) : "memory");
	else
		__asm__ volatile("vmmcall" : "+a"(function) : "b"(a), "c"(b), "d"(c) : "memory");
	return function;
}

/* Each core has a TSS of its own, so its task register names it. */
static inline unsigned cpu_slot(void)
{
	uint16_t selector;

	__asm__ volatile("str %0" : "=r"(selector));
	return (unsigned)(selector - SELECTOR_TSS) / TSS_DESCRIPTOR_BYTES;
}
