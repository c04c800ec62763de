/* SPDX-License-Identifier: Apache-2.0 */
/* AArch64 at EL1: vectors, masks, the virtual timer, PSCI by HVC. */
#pragma once
#include <stdint.h>

#define WORD "w" /* before the number of an operand that is a register of 32 bits */

#define READ_REGISTER(name)                                        \
	({                                                         \
		uint64_t value_;                                   \
		__asm__ volatile("mrs %0, " #name : "=r"(value_)); \
		value_;                                            \
	})
#define WRITE_REGISTER(name, value) __asm__ volatile("msr " #name ", %0\n\tisb" : : "r"((uint64_t)(value)) : "memory")

/* Stack, vectors, the first C. An exception but for an interrupt ends in a loop that nobody leaves. */
__asm__(".section .text.start, \"ax\"\n"
	".globl _start\n"
	"_start:\n"
	"	ldr	x1, =__stack_top\n"
	"	mov	sp, x1\n"
	"	adr	x1, foreign_vectors\n"
	"	msr	VBAR_EL1, x1\n"
	"	isb\n"
	"	b	foreign_main\n"
	"	.balign	2048\n"
	"foreign_vectors:\n"
	"	.fill	160, 4, 0x14000000\n"
	"	sub	sp, sp, #256\n"
	"	.irp	n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18\n"
	"	str	x\\n, [sp, #8 * \\n]\n"
	"	.endr\n"
	"	.irp	n, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 29, 30\n"
	"	str	x\\n, [sp, #8 * \\n]\n"
	"	.endr\n"
	"	b	foreign_irq\n"
	"	.balign	2048\n"
	"foreign_irq:\n"
	"	mrs	x1, ELR_EL1\n"
	"	mrs	x2, SPSR_EL1\n"
	"	stp	x1, x2, [sp, #192]\n"
	"	bl	foreign_interrupt\n"
	"	ldp	x1, x2, [sp, #192]\n"
	"	msr	ELR_EL1, x1\n"
	"	msr	SPSR_EL1, x2\n"
	"	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 29, 30\n"
	"	ldr	x\\n, [sp, #8 * \\n]\n"
	"	.endr\n"
	"	add	sp, sp, #256\n"
	"	eret\n"
	"	.previous\n");

static inline void interrupts_on(void)
{
	__asm__ volatile("msr DAIFCLR, #2" : : : "memory");
}

static inline void interrupts_off(void)
{
	__asm__ volatile("msr DAIFSET, #2" : : : "memory");
}

static inline void wait_for_interrupt(void)
{
	__asm__ volatile("dsb sy\n\twfi" : : : "memory");
}

static inline void barrier(void)
{
	__asm__ volatile("dsb sy\n\tisb" : : : "memory");
}

static inline uint64_t counter(void)
{
	__asm__ volatile("isb" : : : "memory");
	return READ_REGISTER(CNTVCT_EL0);
}

static inline void timer_at(uint64_t when)
{
	WRITE_REGISTER(CNTV_CVAL_EL0, when);
	WRITE_REGISTER(CNTV_CTL_EL0, 1);
}

/* DEN 0022, 5.9 "SYSTEM_OFF". */
_Noreturn static inline void power_off(void)
{
	register uint64_t x0 __asm__("x0") = 0x84000008;

	__asm__ volatile("hvc #0" : "+r"(x0) : : "memory");
	for (;;)
		;
}
