/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point and SIMD registers, which the compiler is kept from: void cpu_fp_enable(on), void cpu_fp_save(fp), void cpu_fp_load(fp).
 * ARMv7 ARM B1.11.3 "Enabling Advanced SIMD and floating-point support", B4.1.58 "FPEXC".
 */
#define FPEXC_EN (1 << 30)

	.syntax	unified
	.arm
	.fpu	neon
	.text
	.balign	4
	.globl	cpu_fp_enable
	.type	cpu_fp_enable, %function
cpu_fp_enable:
	cmp	r0, #0
	movne	r0, #FPEXC_EN
	vmsr	fpexc, r0
	bx	lr

	.globl	cpu_fp_save
	.type	cpu_fp_save, %function
cpu_fp_save:
	vmrs	r1, fpscr
	vstmia	r0!, {d0-d15}
	vstmia	r0!, {d16-d31}
	str	r1, [r0]
	bx	lr

	.globl	cpu_fp_load
	.type	cpu_fp_load, %function
cpu_fp_load:
	vldmia	r0!, {d0-d15}
	vldmia	r0!, {d16-d31}
	ldr	r1, [r0]
	vmsr	fpscr, r1
	bx	lr
