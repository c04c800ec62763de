/* SPDX-License-Identifier: Apache-2.0 */
/* x87 and SSE registers, which the compiler is kept from: void cpu_fp_save(fp), void cpu_fp_load(fp). */
	.text
	.globl	cpu_fp_save
cpu_fp_save:
	fxsave64 (%rdi)
	ret

	.globl	cpu_fp_load
cpu_fp_load:
	fxrstor64 (%rdi)
	ret
