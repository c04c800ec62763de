/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EL1 exception vectors (Arm ARM, chapter D1 "The AArch64 System Level Programmers' Model", "Exception vectors"). The
 * compiler leaves x18 alone (-ffixed-x18), so an entry from the kernel may use it before anything is saved: interrupts note the time of
 * arrival in it with their first instruction, exceptions their kind. A program's x18 is its own: entries from EL0 save first, and note in x1.
 */
#include "emergency.h"
#include "frame.h"

	.macro save_first
	sub	sp, sp, #CPU_FRAME_BYTES
	stp	x0, x1, [sp]
	.endm

	.macro save_others
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x19, [sp, #144]
	stp	x20, x21, [sp, #160]
	stp	x22, x23, [sp, #176]
	stp	x24, x25, [sp, #192]
	stp	x26, x27, [sp, #208]
	stp	x28, x29, [sp, #224]
	mrs	x2, elr_el1
	mrs	x3, spsr_el1
	stp	x30, x2, [sp, #FRAME_ELR - 8]
	str	x3, [sp, #FRAME_SPSR]
	.endm

	.macro save
	save_first
	save_others
	.endm

	.macro save_others_of_user
	save_others
	mrs	x2, sp_el0
	str	x2, [sp, #FRAME_SP_EL0]
	.endm

	.macro restore_and_return
	ldp	x30, x0, [sp, #FRAME_ELR - 8]
	ldr	x1, [sp, #FRAME_SPSR]
	msr	elr_el1, x0
	msr	spsr_el1, x1
	ldp	x28, x29, [sp, #224]
	ldp	x26, x27, [sp, #208]
	ldp	x24, x25, [sp, #192]
	ldp	x22, x23, [sp, #176]
	ldp	x20, x21, [sp, #160]
	ldp	x18, x19, [sp, #144]
	ldp	x16, x17, [sp, #128]
	ldp	x14, x15, [sp, #112]
	ldp	x12, x13, [sp, #96]
	ldp	x10, x11, [sp, #80]
	ldp	x8, x9, [sp, #64]
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp]
	add	sp, sp, #CPU_FRAME_BYTES
	eret
	.endm

/* The MMU says whether there is room on the stack: Arm ARM, "AT S1E1W". If not, the core has another. */
	.macro exception kind
	.balign	128
	sub	x18, sp, #CPU_FRAME_BYTES + HANDLER_STACK_BYTES
	at	s1e1w, x18
	isb
	mrs	x18, par_el1
	tbnz	x18, #0, 1f
	mov	x18, #\kind
	b	exception_common
1:	mov	x18, #\kind
	b	exception_without_stack
	.endm

	.macro interrupt
	.balign	128
	mrs	x18, cntvct_el0
	b	interrupt_common
	.endm

	.macro user_exception kind
	.balign	128
	save_first
	mov	x1, #\kind
	b	user_exception_common
	.endm

	.macro user_interrupt
	.balign	128
	save_first
	mrs	x1, cntvct_el0
	b	user_interrupt_common
	.endm

	.section .text.vectors, "ax"
	.balign	2048
	.globl	vectors
vectors:
	exception 0		/* current EL with SP_EL0: synchronous, IRQ, FIQ, SError */
	exception 1
	exception 2
	exception 3
	exception 4		/* current EL with SP_EL1 */
	interrupt
	exception 6
	exception 7
	user_exception 8	/* lower EL, AArch64 */
	user_interrupt
	user_exception 10
	user_exception 11
	user_exception 12	/* lower EL, AArch32 */
	user_exception 13
	user_exception 14
	user_exception 15

exception_common:
	save
	mov	x0, sp
	mov	x1, x18
	bl	cpu_exception
	restore_and_return

/* Registers are lost, and with them the way back: who had no room is not gone on with. */
exception_without_stack:
	mrs	x0, tpidr_el1
	adrp	x1, emergency_stacks
	add	x1, x1, :lo12:emergency_stacks
	add	x0, x0, #1
	add	x1, x1, x0, lsl #EMERGENCY_STACK_SHIFT
	mov	sp, x1
	b	exception_common

/* Until entries_end it is a stack without room that faults, and nobody else. */
	.globl	entries, entries_end
entries:
interrupt_common:
	save
	sub	x1, sp, #HANDLER_STACK_BYTES
	ldr	xzr, [x1]
entries_end:
	adrp	x1, timer_hw_arrival
	str	x18, [x1, :lo12:timer_hw_arrival]
	mov	x0, sp
	bl	irq_serve
	restore_and_return

user_exception_common:
	save_others_of_user
	mov	x0, sp
	bl	cpu_exception
	b	user_return

user_interrupt_common:
	save_others_of_user
	adrp	x2, timer_hw_arrival
	str	x1, [x2, :lo12:timer_hw_arrival]
	mov	x0, sp
	bl	irq_serve
user_return:
	ldr	x0, [sp, #FRAME_SP_EL0]
	msr	sp_el0, x0
	restore_and_return

	.globl	cpu_user_enter
cpu_user_enter:
	mov	sp, x0
	b	user_return

/* Place of this core's word in attempt_stack, to X9. */
	.macro attempt_of_core
	adrp	x9, attempt_stack
	add	x9, x9, :lo12:attempt_stack
	mrs	x10, tpidr_el1
	add	x9, x9, x10, lsl #3
	.endm

/* bool cpu_attempt(attempt, a, b, result): the callee-saved registers wait on the stack for either way back. */
	.text
	.globl	cpu_attempt
cpu_attempt:
	stp	x29, x30, [sp, #-112]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	str	x3, [sp, #96]
	mov	x29, sp
	attempt_of_core
	mov	x10, sp
	str	x10, [x9]
	mov	x9, x0
	mov	x0, x1
	mov	x1, x2
	blr	x9
	ldr	x3, [sp, #96]
	str	x0, [x3]
	mov	x0, #1
	b	1f

	.globl	cpu_attempt_abandon	/* cpu_exception returns here, on whatever stack pointer the attempt left */
cpu_attempt_abandon:
	attempt_of_core
	ldr	x10, [x9]
	mov	sp, x10
	mov	x0, #0
1:	attempt_of_core
	str	xzr, [x9]
	ldp	x27, x28, [sp, #80]
	ldp	x25, x26, [sp, #64]
	ldp	x23, x24, [sp, #48]
	ldp	x21, x22, [sp, #32]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #112
	ret
