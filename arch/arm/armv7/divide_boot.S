/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Division of 64 bits, which the compiler expects to find: Run-time ABI for the Arm Architecture (IHI 0043) 5.3.1 "Integer
 * (32/32 -> 32) division functions" and its sequel for 64. Where 32 bits do, the processor divides; else there is a step for each bit of the quotient.
 */
	.syntax	unified
	.arm
	.arch_extension idiv

/* r1:r0 / r3:r2 -> quotient r1:r0, remainder r3:r2. By 0: undefined. */
	.section .text.__aeabi_uldivmod, "ax"
	.balign	4
	.global	__aeabi_uldivmod
	.type	__aeabi_uldivmod, %function
__aeabi_uldivmod:
	orrs	r12, r1, r3
	bne	1f
	cmp	r2, #0
	beq	1f
	udiv	r12, r0, r2
	mls	r2, r12, r2, r0
	mov	r0, r12
	bx	lr

1:	push	{r4, r5, r6, lr}
	/* r12 = how many bits the quotient may have: zeros before the divisor - zeros before the dividend + 1; by 0 no more than 64. */
	clz	r4, r1
	cmp	r1, #0
	clzeq	r4, r0
	addeq	r4, r4, #32
	clz	r12, r3
	cmp	r3, #0
	clzeq	r12, r2
	addeq	r12, r12, #32
	subs	r12, r12, r4
	blt	5f
	cmp	r12, #63
	movhi	r12, #63
	add	r12, r12, #1

	/* r5:r4 = the dividend's bits before as many; r1:r0 = those, in front. Shifts by a register of 32 and more, or less than 0, leave 0. */
	rsb	r6, r12, #32
	sub	lr, r12, #32
	lsr	r4, r0, r12
	orr	r4, r4, r1, lsl r6
	orr	r4, r4, r1, lsr lr
	lsr	r5, r1, r12
	rsb	lr, r12, #64
	lsl	r1, r1, lr
	orr	r1, r1, r0, lsl r6
	sub	r6, r12, #32
	orr	r1, r1, r0, lsr r6
	lsl	r0, r0, lr

2:	adds	r0, r0, r0
	adcs	r1, r1, r1
	adcs	r4, r4, r4
	adc	r5, r5, r5 /* no carry: the rest before was less than the divisor, or half of a dividend */
	cmp	r5, r3
	cmpeq	r4, r2
	blo	4f
	subs	r4, r4, r2
	sbc	r5, r5, r3
	orr	r0, r0, #1
4:	subs	r12, r12, #1
	bne	2b
	mov	r2, r4
	mov	r3, r5
	pop	{r4, r5, r6, pc}

5:	mov	r2, r0 /* the divisor is greater */
	mov	r3, r1
	mov	r0, #0
	mov	r1, #0
	pop	{r4, r5, r6, pc}
