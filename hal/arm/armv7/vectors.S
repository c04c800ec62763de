/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's floating-point and SIMD registers, 0, and off: all that a monitor ever does with them. HCPTR lets both through. */
	.syntax	unified
	.fpu	neon-vfpv4
	.arm
	.text
	.global	guest_clear_vectors
	.type	guest_clear_vectors, %function
guest_clear_vectors:
	mov	r0, #0x40000000 /* FPEXC.EN: ARMv7 ARM B4.1.58 "FPEXC" */
	vmsr	fpexc, r0
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmov.i32 q\n, #0
	.endr
	mov	r0, #0
	vmsr	fpscr, r0
	vmsr	fpexc, r0
	bx	lr
	.size	guest_clear_vectors, . - guest_clear_vectors
