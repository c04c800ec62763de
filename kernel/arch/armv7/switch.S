/* SPDX-License-Identifier: Apache-2.0 */
/* Switches between threads (kernel/core/thread.h): what a call keeps waits on the stack. Layout: thread_state.h */
	.syntax	unified
	.arm

	.text
	.balign	4
	.globl	cpu_switch
	.type	cpu_switch, %function
cpu_switch:
	push	{r3-r11, lr} /* r3: eight bytes aligned */
	str	sp, [r0]
	mov	sp, r1
	pop	{r3-r11, pc}

	.globl	cpu_go_on_at
	.type	cpu_go_on_at, %function
cpu_go_on_at:
	mov	sp, r0
	mov	r0, r2
	mov	lr, #0
	bx	r1

/* A thread's first instructions: r4 = begin, r5 = entry, r6 = argument. begin does not return. */
	.globl	thread_start
	.type	thread_start, %function
thread_start:
	mov	r0, r5
	mov	r1, r6
	bx	r4
