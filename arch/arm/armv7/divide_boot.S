/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Division of 64 bits, which the compiler expects to find: Run-time ABI for the Arm Architecture (IHI 0043) 5.3.1 "Integer
 * (32/32 -> 32) division functions" and its sequel for 64. A bit a step; only start-up divides so, so small goes before fast.
 */
	.syntax	unified
	.arm

/* r1:r0 / r3:r2 -> quotient r1:r0, remainder r3:r2. By 0: all ones. */
	.section .text.__aeabi_uldivmod, "ax"
	.balign	4
	.global	__aeabi_uldivmod
	.type	__aeabi_uldivmod, %function
__aeabi_uldivmod:
	push	{r4, r5, r12, lr}
	mov	r4, #0 /* r5:r4 = what is left to divide */
	mov	r5, #0
	mov	r12, #64
1:	adds	r0, r0, r0
	adcs	r1, r1, r1
	adcs	r4, r4, r4
	adcs	r5, r5, r5
	bcs	2f
	cmp	r5, r3
	cmpeq	r4, r2
	blo	3f
2:	subs	r4, r4, r2
	sbc	r5, r5, r3
	orr	r0, r0, #1
3:	subs	r12, r12, #1
	bne	1b
	mov	r2, r4
	mov	r3, r5
	pop	{r4, r5, r12, pc}
