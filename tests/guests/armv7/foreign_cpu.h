/* SPDX-License-Identifier: Apache-2.0 */
/* ARMv7 in SVC mode: vectors, masks, the virtual timer, PSCI by HVC. */
#pragma once
#include <stdint.h>

#define WORD "" /* before the number of an operand that is a register of 32 bits */

/* Stack, vectors, the first C. An exception but for an interrupt ends in a loop that nobody leaves. */
__asm__(".section .text.start, \"ax\"\n"
	".arch_extension virt\n"
	".globl _start\n"
	"_start:\n"
	"	ldr	sp, =__stack_top\n"
	"	ldr	r1, =foreign_vectors\n"
	"	mcr	p15, 0, r1, c12, c0, 0\n"
	"	isb\n"
	"	b	foreign_main\n"
	"	.ltorg\n"
	"	.balign	32\n"
	"foreign_vectors:\n"
	"	.rept	6\n"
	"	b	.\n"
	"	.endr\n"
	"	b	foreign_irq\n"
	"	b	.\n"
	"foreign_irq:\n"
	"	sub	lr, lr, #4\n"
	"	srsdb	sp!, #0x13\n"
	"	cps	#0x13\n"
	"	push	{r0-r3, r4, ip}\n"
	"	and	r4, sp, #4\n"
	"	sub	sp, sp, r4\n"
	"	push	{r4, lr}\n"
	"	bl	foreign_interrupt\n"
	"	pop	{r4, lr}\n"
	"	add	sp, sp, r4\n"
	"	pop	{r0-r3, r4, ip}\n"
	"	rfeia	sp!\n"
	"	.previous\n");

static inline void interrupts_on(void)
{
	__asm__ volatile("cpsie i" : : : "memory");
}

static inline void interrupts_off(void)
{
	__asm__ volatile("cpsid i" : : : "memory");
}

static inline void wait_for_interrupt(void)
{
	__asm__ volatile("dsb\n\twfi" : : : "memory");
}

static inline void barrier(void)
{
	__asm__ volatile("dsb\n\tisb" : : : "memory");
}

/* CNTVCT, CNTV_CVAL, CNTV_CTL. */
static inline uint64_t counter(void)
{
	uint64_t value;

	__asm__ volatile("isb\n\tmrrc p15, 1, %Q0, %R0, c14" : "=r"(value) : : "memory");
	return value;
}

static inline void timer_at(uint64_t when)
{
	__asm__ volatile("mcrr p15, 3, %Q0, %R0, c14\n\tmcr p15, 0, %1, c14, c3, 1\n\tisb" : : "r"(when), "r"(1) : "memory");
}

/* DEN 0022, 5.9 "SYSTEM_OFF". */
_Noreturn static inline void power_off(void)
{
	register uint32_t r0 __asm__("r0") = 0x84000008;

	__asm__ volatile(".arch_extension virt\n\thvc #0" : "+r"(r0) : : "memory");
	for (;;)
		;
}
