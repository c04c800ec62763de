/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupt and exception entries: APM vol. 2, 8.9 "Long-Mode Interrupt Control Transfers". Entry n stands at
 * vectors + n * VECTOR_BYTES, so that the table that points at them is a loop.
 */
#include "frame.h"
#include "segments.h"
#include "timer_hw.h"

/* Exceptions that push an error code: 8, 10-14, 17, 21, 29, 30. */
#define WITH_ERROR_CODE 0x60227d00

	.macro save_registers
	push	%rax
	push	%rbx
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%rbp
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	.endm

/* Place of this core in a table of words, to RAX: TSS descriptors are 16 bytes, words 8. */
	.macro slot_times_8
	str	%ax
	movzwl	%ax, %eax
	sub	$SELECTOR_TSS, %eax
	shr	%eax
	.endm

	.text
	.balign	VECTOR_BYTES
	.globl	vectors, entries_end
vectors:	/* until entries_end it is a stack without room that faults, and nobody else */
	.set	n, 0
	.rept	256
	.balign	VECTOR_BYTES
	.if	n >= 32 || !(WITH_ERROR_CODE >> n & 1)
	push	$0
	.endif
	push	$n
	.if	n == VECTOR_PF
	jmp	vector_page_fault
	.else
	jmp	vector_common
	.endif
	.set	n, n + 1
	.endr

/*
 * What a touch raises. The kernel's goes to C on the emergency stack, which double faults come on, too; the frame lies where it has found
 * room, and where it has not, it is a double fault.
 */
vector_page_fault:
	save_registers
	testb	$3, FRAME_CS(%rsp)
	jnz	1f
	slot_times_8
	mov	emergency_tops(%rax), %rax
	mov	%rax, %rdx
	sub	%rsp, %rdx
	cmp	$EMERGENCY_STACK_BYTES, %rdx
	jb	1f			/* it is on that stack already */
	mov	%rsp, %rbx
	mov	%rsp, %rdi
	mov	%rax, %rsp
	cld
	call	cpu_vector
	mov	%rbx, %rsp
	jmp	frame_return

vector_common:
	save_registers
	testb	$0, -HANDLER_STACK_BYTES(%rsp)
entries_end:
1:	mov	%rsp, %rdi
	cld
	call	cpu_vector
frame_return:
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rbp
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rbx
	pop	%rax
	add	$16, %rsp		/* vector, error code */
	iretq

/*
 * SYSCALL: return address in RCX, flags in R11, the program's stack pointer, interrupts disabled. Makes the frame that an interrupt would
 * have made. It returns by IRETQ. The address is canonical, as the user part ends a page before those that are not (space_format.c).
 */
	.globl	cpu_call_entry
cpu_call_entry:
	swapgs
	mov	%rsp, %gs:TSS_RSP2
	mov	%gs:TSS_RSP0, %rsp
	push	$SELECTOR_USER_DATA | 3
	push	%gs:TSS_RSP2
	swapgs
	push	%r11
	push	$SELECTOR_USER_CODE | 3
	push	%rcx
	push	$0
	push	$VECTOR_CALL
	save_registers
	mov	%rsp, %rdi
	call	user_call
	jmp	frame_return

/* void cpu_user_enter(frame) */
	.globl	cpu_user_enter
cpu_user_enter:
	mov	%rdi, %rsp
	add	$CPU_FRAME_BYTES, %rdi
	call	descriptors_set_user_entry_stack
	jmp	frame_return

/*
 * The timer's interrupt while it is measured: the counter is read before anything else, at the price of RAX, RCX and RDX,
 * which timer_hw_measure gives up while it waits.
 */
	.globl	vector_measure
vector_measure:
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, timer_hw_arrival
	mov	$MSR_X2APIC_EOI, %ecx
	xor	%eax, %eax
	xor	%edx, %edx
	wrmsr
	iretq

/* The same for whatever it interrupts. */
	.globl	vector_measure_kept
vector_measure_kept:
	push	%rax
	push	%rdx
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%rax, timer_hw_arrival
	push	%rcx
	mov	$MSR_X2APIC_EOI, %ecx
	xor	%eax, %eax
	xor	%edx, %edx
	wrmsr
	pop	%rcx
	pop	%rdx
	pop	%rax
	iretq

/* Place of this core's word in attempt_stack, to RAX. */
	.macro attempt_of_core
	slot_times_8
	add	$attempt_stack, %rax
	.endm

/* bool cpu_attempt(attempt, a, b, result): the callee-saved registers wait on the stack for either way back. */
	.globl	cpu_attempt
cpu_attempt:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rcx
	attempt_of_core
	mov	%rsp, (%rax)
	mov	%rdi, %rax
	mov	%rsi, %rdi
	mov	%rdx, %rsi
	call	*%rax
	pop	%rcx
	mov	%rax, (%rcx)
	attempt_of_core
	mov	$1, %ecx
	jmp	1f

	.globl	cpu_attempt_abandon	/* cpu_vector returns here, on whatever stack pointer the attempt left */
cpu_attempt_abandon:
	attempt_of_core
	mov	(%rax), %rsp
	pop	%rcx
	xor	%ecx, %ecx
1:	movq	$0, (%rax)
	mov	%ecx, %eax
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
