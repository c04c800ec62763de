/* SPDX-License-Identifier: Apache-2.0 */
/* Switches between threads (kernel/core/thread.h): what a call keeps waits on the stack, x18 of the vectors aside. Layout: thread.c */
#include "thread_state.h"

	.text
	.globl	cpu_switch
cpu_switch:
	stp	x29, x30, [sp, #-THREAD_STATE_BYTES]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	mov	x9, sp
	str	x9, [x0]
	mov	sp, x1
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #THREAD_STATE_BYTES
	ret

	.globl	cpu_go_on_at
cpu_go_on_at:
	mov	sp, x0
	mov	x0, x2
	mov	x29, xzr
	mov	x30, xzr
	br	x1

/* A thread's first instructions: x19 = begin, x20 = entry, x21 = argument. begin does not return. */
	.globl	thread_start
thread_start:
	mov	x0, x20
	mov	x1, x21
	br	x19
