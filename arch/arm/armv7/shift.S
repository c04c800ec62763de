/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shifts of 64 bits by a variable count, 0 to 63, which the compiler expects to find: Run-time ABI for the Arm Architecture
 * (IHI 0043) 5.2 "The long long helper functions". A register shifted by 32 or more is 0, and PL tells which half is which.
 */
	.syntax	unified
	.arm

/* r1:r0 << r2 */
	.section .text.__aeabi_llsl, "ax"
	.global	__aeabi_llsl
	.type	__aeabi_llsl, %function
__aeabi_llsl:
	rsb	r12, r2, #32
	subs	r3, r2, #32
	lslpl	r1, r0, r3
	lslmi	r1, r1, r2
	orrmi	r1, r1, r0, lsr r12
	lsl	r0, r0, r2
	bx	lr

/* r1:r0 >> r2, unsigned */
	.section .text.__aeabi_llsr, "ax"
	.global	__aeabi_llsr
	.type	__aeabi_llsr, %function
__aeabi_llsr:
	rsb	r12, r2, #32
	subs	r3, r2, #32
	lsrpl	r0, r1, r3
	lsrmi	r0, r0, r2
	orrmi	r0, r0, r1, lsl r12
	lsr	r1, r1, r2
	bx	lr
