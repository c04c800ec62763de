/* SPDX-License-Identifier: Apache-2.0 */
/* x87 and SSE registers, which the compiler is kept from: void cpu_fp_save(fp), void cpu_fp_load(fp). */
	.text
	.globl	cpu_fp_save
cpu_fp_save:
	fxsave64 (%rdi)
	ret

/*
 * On AMD's processors FXRSTOR leaves the addresses of the last x87 instruction and its operand as they are, unless an exception is pending
 * in what it loads: APM vol. 4, "FXRSTOR". So that they are not another program's they become the kernel's, here, which are the same
 * in every sandbox. EMMS frees a register, and a pending exception would be raised before it.
 */
	.globl	cpu_fp_load
cpu_fp_load:
	fnclex
	emms
	fildl	nothing(%rip)
	fxrstor64 (%rdi)
	ret

	.section .rodata.fp, "a"
	.balign	4
nothing:
	.long	0
