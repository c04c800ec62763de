/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between monitor and guest. HTPIDR = this core's struct hal_core; the monitor runs with everything masked, in Hyp mode.
 *
 *   guest_run:  callee-saved registers on the stack ─► guest registers from the core ─► ERET
 *   vector:     guest registers to the core ─► callee-saved registers from the stack ─► return LEFT_* from guest_run
 *
 * A call that guest_call answers comes back sooner: ELR_hyp, already behind the HVC, and SPSR stay as they are.
 */
#include "arch/arm/armv7/mmu.h"
#include "hal/arm/armv7/guest.h"

	.syntax	unified
	.arch_extension virt
	.arm

/*
 * ARMv7 ARM B1.8.1 "Exception vectors and the exception base address": 0x04 to 0x10 are our own mistakes, 0x14 is whatever a
 * guest did, asynchronous aborts included; IRQ and FIQ stay the guest's.
 */
	.section .vectors, "ax"
	.balign	32
	.global	guest_vectors
guest_vectors:
	.rept	5
	b	monitor_trapped
	.endr
	b	guest_left
	b	guest_interrupted
	b	guest_interrupted

guest_interrupted:
	push	{r0}
	mov	r0, #LEFT_IRQ
	b	1f
guest_left:
	push	{r0}
	mov	r0, #LEFT_SYNC
1:	push	{r0}
	mrc	p15, 4, r0, c13, c0, 2 /* HTPIDR */
	stmib	r0, {r1-r12, lr}
	pop	{r1, r2}
	str	r2, [r0, #GUEST_R]
	mrs	r2, elr_hyp
	mrs	r3, spsr
	strd	r2, r3, [r0, #GUEST_PC] /* and GUEST_CPSR */
	mrc	p15, 4, r2, c5, c2, 0 /* HSR */
	cmp	r1, #LEFT_SYNC
	cmpeq	r2, #SYNDROME_PLAIN_CALL
	bne	2f
	mov	r4, r0
	bl	guest_call
	movs	r1, r0 /* 0 is LEFT_SYNC */
	mov	r0, r4
	bne	guest_resume
2:	mov	r0, r1
	pop	{r3-r11, pc}

/* An exclusive access of the monitor must not let one of the guest's succeed: CLREX. */
	.global	guest_run
	.type	guest_run, %function
guest_run:
	push	{r3-r11, lr} /* r3 for nothing but the stack's alignment */
	ldrd	r2, r3, [r0, #GUEST_PC] /* and GUEST_CPSR */
	msr	elr_hyp, r2
	msr	spsr_cxsf, r3
guest_resume:
	clrex
	ldm	r0, {r0-r12, lr}
	eret
	dsb	nsh /* no speculation past the ERET */
	isb

/* A trap of the monitor is a mistake of ours, confined to this sandbox: start over, so that it is recorded and parked. */
monitor_trapped:
	mrc	p15, 4, r0, c13, c0, 2 /* HTPIDR */
	mov	r1, #1
	str	r1, [r0, #GUEST_TRAP]
resident_start:
	ldrd	r2, r3, [r0, #GUEST_STACK_TOP] /* and GUEST_RESIDENT */
	mov	sp, r2
	bx	r3

/*
 * (core, ., root of the private tables in r3:r2). Both address spaces hold these instructions at this address, as does
 * physical memory; the MMU is off in between because two translations of one address may not meet in a TLB: ARMv7 ARM
 * B3.10.1 "General TLB maintenance requirements".
 */
	.global	guest_space_enter
	.type	guest_space_enter, %function
guest_space_enter:
	ldr	r12, =MMU_SCTLR_OFF
	mcr	p15, 4, r12, c1, c0, 0 /* HSCTLR */
	isb
	mcrr	p15, 4, r2, r3, c2 /* HTTBR */
	mcr	p15, 4, r12, c8, c7, 0 /* TLBIALLH */
	mcr	p15, 0, r12, c7, c5, 0 /* ICIALLU */
	mcr	p15, 0, r12, c7, c5, 6 /* BPIALL */
	dsb	sy
	isb
	ldr	r12, =MMU_SCTLR_ON | MMU_SCTLR_WXN
	mcr	p15, 4, r12, c1, c0, 0 /* HSCTLR */
	isb
	b	resident_start
	.ltorg

/* (n): an entry is two instructions, and PC reads as two ahead. */
	.global	guest_banked_read
	.type	guest_banked_read, %function
guest_banked_read:
	add	pc, pc, r0, lsl #3
	nop
	.irp	register, r8_fiq, r9_fiq, r10_fiq, r11_fiq, r12_fiq, sp_fiq, lr_fiq, sp_irq, lr_irq, sp_svc, lr_svc, sp_abt, lr_abt, sp_und, lr_und, sp_usr
	mrs	r0, \register
	bx	lr
	.endr

/* (n, value) */
	.global	guest_banked_write
	.type	guest_banked_write, %function
guest_banked_write:
	add	pc, pc, r0, lsl #3
	nop
	.irp	register, r8_fiq, r9_fiq, r10_fiq, r11_fiq, r12_fiq, sp_fiq, lr_fiq, sp_irq, lr_irq, sp_svc, lr_svc, sp_abt, lr_abt, sp_und, lr_und, sp_usr
	msr	\register, r1
	bx	lr
	.endr
