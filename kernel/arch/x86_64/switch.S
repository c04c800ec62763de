/* SPDX-License-Identifier: Apache-2.0 */
/* Switches between threads (kernel/core/thread.h): what a call keeps waits on the stack. Layout: thread_state.h */
	.text
	.globl	cpu_switch
cpu_switch:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	mov	%rsp, (%rdi)
	mov	%rsi, %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

	.globl	cpu_go_on_at
cpu_go_on_at:
	mov	%rdi, %rsp
	mov	%rdx, %rdi
	xor	%ebp, %ebp
	call	*%rsi
	ud2

/* A thread's first instructions: RBX = begin, RBP = entry, R12 = argument. begin does not return. */
	.globl	thread_start
thread_start:
	mov	%rbp, %rdi
	mov	%r12, %rsi
	xor	%ebp, %ebp
	call	*%rbx
	ud2
