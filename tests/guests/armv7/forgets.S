/* SPDX-License-Identifier: Apache-2.0 */
/* The general registers at the first instruction, and at the last. LEFT is no address of this sandbox: a load from there faults in stage 2. */
#define LEFT_LOW	0xc2e0
#define LEFT_HIGH	0x5e

	.syntax	unified
	.arm
	.text
	.globl	_start
	.type	_start, %function
_start:
	push	{r0-r12, lr}
	movw	r1, #:lower16:forgets_general
	movt	r1, #:upper16:forgets_general
	pop	{r2-r8}
	stm	r1!, {r2-r8}
	pop	{r3-r9}
	stm	r1!, {r3-r9}
	str	sp, [r1]
	mrs	r3, cpsr
	str	r3, [r1, #4]
	mov	r0, r2
	b	forgets_main

	.globl	forgets_crash
	.type	forgets_crash, %function
forgets_crash:
	movw	r0, #LEFT_LOW
	movt	r0, #LEFT_HIGH
	.irp	n, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, r11, r12, sp, lr
	mov	\n, r0
	.endr
	cmp	r0, r0
	ldr	r0, [r0]
	b	.
