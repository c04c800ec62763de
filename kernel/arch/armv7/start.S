/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First instructions. SVC mode, MMU off, interrupts masked, r0 = struct bh_info or 0 (abi/guest.h; the bare emulator enters an
 * ELF with r0 = 0). The stack that a monitor gives is not used: our own is the same in both worlds.
 */
#include "emergency.h"

	.syntax	unified
	.arm
	.section .text.start, "ax"
	.globl	_start
_start:
	cpsid	aif
	ldr	sp, =stack_top
	ldr	r1, =bss_start
	ldr	r2, =bss_end
	mov	r4, #0
	mov	r5, #0
	mov	r6, #0
	mov	r7, #0
1:	stm	r1!, {r4-r7} /* both ends are aligned to 16 */
	cmp	r1, r2
	blo	1b
	mov	lr, #0
	bl	kernel_main
	.ltorg

/*
 * A further core of the sandbox: the same state, but r0 = struct core_start, cleaned to memory. Nothing is written before the
 * MMU and caches are on.
 */
	.globl	core_start
core_start:
	cpsid	aif
	ldm	r0, {r1-r8}
	mov	r0, #0
	mcr	p15, 0, r1, c13, c0, 4	/* TPIDRPRW: slot */
	mov	sp, r2
	ldr	r9, =emergency_stacks
	add	r1, r1, #1
	add	r9, r9, r1, lsl #EMERGENCY_STACK_SHIFT
	cps	#0x17			/* ABT mode */
	mov	sp, r9
	cps	#0x13			/* SVC mode */
	mcr	p15, 0, r3, c10, c2, 0	/* MAIR0 */
	mcr	p15, 0, r4, c2, c0, 2	/* TTBCR */
	mcrr	p15, 0, r5, r0, c2	/* TTBR0 */
	mcr	p15, 0, r8, c12, c0, 0	/* VBAR */
	isb
	mcr	p15, 0, r0, c8, c7, 0	/* TLBIALL */
	mcr	p15, 0, r0, c7, c5, 0	/* ICIALLU */
	mcr	p15, 0, r0, c7, c5, 6	/* BPIALL */
	dsb	nsh
	isb
	mcr	p15, 0, r6, c1, c0, 0	/* SCTLR */
	isb
	cpsie	a
	mov	lr, #0
	bx	r7

	.section .bss.stack, "aw", %nobits
	.balign	16
	.skip	16384
stack_top:
