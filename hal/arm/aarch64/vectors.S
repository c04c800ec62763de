/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's floating-point and SIMD registers, 0: all that a monitor ever does with them. CPTR_EL2.TFP is clear. */
	.arch_extension fp
	.arch_extension simd
	.text
	.global	guest_clear_vectors
	.type	guest_clear_vectors, %function
guest_clear_vectors:
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	movi	v\n\().2d, #0
	.endr
	msr	FPCR, xzr
	msr	FPSR, xzr
	ret
	.size	guest_clear_vectors, . - guest_clear_vectors
