/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exception vectors, ARM state: ARMv7 ARM B1.8.1 "Exception vectors and the exception base address". Everything is handled in SVC
 * mode on its stack, and the whole of what was interrupted is saved there, user mode's bank as well: struct cpu_frame. IRQ mode has no
 * stack. An interrupt notes how late it is in that mode's SP, with its first instruction after the branch, for which alone the table has
 * room.
 */
#include "frame.h"

	.syntax	unified
	.arm

	.section .text.vectors, "ax"
	.balign	32
	.globl	vectors, entries, entries_end
entries: /* until entries_end it is a stack without room that faults, and nobody else */
vectors:
	b	unused
	b	undefined
	b	supervisor
	b	prefetch
	b	data
	b	hypervisor
	b	interrupt
	b	fast_interrupt

/* LR is ahead of the instruction by so many bytes: B1.8.3 "Overview of exception entry". */
	.macro exception name, vector, ahead
\name:
	sub	lr, lr, #\ahead
	srsdb	sp!, #MODE_SVC
	cps	#MODE_SVC
	push	{r0-r12, lr}
	mov	r1, #\vector
	b	exception_common
	.endm

	exception unused, VECTOR_UNUSED, 0
	exception supervisor, VECTOR_SUPERVISOR, 0
	exception prefetch, VECTOR_PREFETCH, 4
	exception hypervisor, VECTOR_HYPERVISOR, 0
	exception fast_interrupt, VECTOR_FIQ, 4

undefined: /* ahead by one instruction, of two bytes in Thumb state */
	srsdb	sp!, #MODE_SVC
	cps	#MODE_SVC
	push	{r0-r12, lr}
	ldrd	r2, r3, [sp, #14 * 4]
	tst	r3, #CPSR_T
	subeq	r2, r2, #4
	subne	r2, r2, #2
	str	r2, [sp, #14 * 4]
	mov	r1, #VECTOR_UNDEFINED
	b	exception_common

/*
 * The MMU says whether there is room on SVC mode's stack: ARMv7 ARM B3.12.7 "Virtual Address to Physical Address translation operations". If
 * not, the core has another, which is this mode's own. Registers and the way back are good in both cases.
 */
data:
	sub	lr, lr, #8
	srsdb	sp!, #MODE_ABT
	push	{r0, r1}
	cps	#MODE_SVC
	sub	r0, sp, #HANDLER_STACK_BYTES
	sub	r0, r0, #16 * 4 + FRAME_USER_BYTES
	cps	#MODE_ABT
	mcr	p15, 0, r0, c7, c8, 1	/* ATS1CPW */
	isb
	mrc	p15, 0, r0, c7, c4, 0	/* PAR */
	tst	r0, #1			/* F */
	beq	1f
	add	r0, sp, #16
	cps	#MODE_SVC
	mov	sp, r0
	cps	#MODE_ABT
1:	pop	{r0, r1}
	add	sp, sp, #8
	srsdb	sp!, #MODE_SVC
	cps	#MODE_SVC
	push	{r0-r12, lr}
	mov	r1, #VECTOR_DATA
exception_common:
	ldr	r4, [sp, #-HANDLER_STACK_BYTES]
	mov	r4, sp
	sub	r0, sp, #FRAME_USER_BYTES
	bic	sp, r0, #7 /* as the procedure call standard has it, wherever the exception struck */
	stm	r0, {sp, lr}^
	bl	cpu_exception
frame_return:
	ldmdb	r4, {sp, lr}^
	mov	sp, r4
	clrex /* an exclusive access that was interrupted has to begin again */
	pop	{r0-r12, lr}
	rfeia	sp!

interrupt:
	mrc	p15, 0, sp, c14, c3, 0 /* CNTV_TVAL: what is left to the deadline, less than nothing */
	sub	lr, lr, #4
	srsdb	sp!, #MODE_SVC
	cps	#MODE_SVC
	push	{r0-r12, lr}
	ldr	r1, [sp, #-HANDLER_STACK_BYTES]
entries_end:
	cps	#MODE_IRQ
	mov	r1, sp
	cps	#MODE_SVC
	mov	r4, sp
	sub	r0, sp, #FRAME_USER_BYTES
	bic	sp, r0, #7
	stm	r0, {sp, lr}^
	mrrc	p15, 3, r2, r3, c14 /* CNTV_CVAL: the deadline; less what was left, the arrival */
	subs	r2, r2, r1
	sbc	r3, r3, r1, asr #31
	ldr	r1, =timer_hw_arrival
	strd	r2, r3, [r1]
	bl	irq_serve
	ldmdb	r4, {sp, lr}^
	mov	sp, r4
	clrex
	pop	{r0-r12, lr}
	rfeia	sp!

	.ltorg

/* void cpu_user_enter(frame) */
	.globl	cpu_user_enter
	.type	cpu_user_enter, %function
cpu_user_enter:
	add	r4, r0, #FRAME_USER_BYTES
	b	frame_return

/* Place of this core's word in attempt_stack, to R4. */
	.macro attempt_of_core
	ldr	r4, =attempt_stack
	mrc	p15, 0, r5, c13, c0, 4	/* TPIDRPRW: slot */
	add	r4, r4, r5, lsl #2
	.endm

/* bool cpu_attempt(attempt, a, b, result): the callee-saved registers wait on the stack for either way back. */
	.text
	.balign	4
	.globl	cpu_attempt
	.type	cpu_attempt, %function
cpu_attempt:
	push	{r3-r11, lr} /* r3: eight bytes aligned; b and result lie after these 40 */
	attempt_of_core
	str	sp, [r4]
	mov	r12, r0
	mov	r0, r2
	mov	r1, r3
	ldrd	r2, r3, [sp, #40]
	blx	r12
	ldr	r3, [sp, #48]
	strd	r0, r1, [r3]
	mov	r0, #1
	b	1f

	.globl	cpu_attempt_abandon /* cpu_exception returns here, on whatever stack pointer the attempt left */
cpu_attempt_abandon:
	attempt_of_core
	ldr	sp, [r4]
	mov	r0, #0
1:	attempt_of_core
	mov	r1, #0
	str	r1, [r4]
	pop	{r3-r11, pc}
