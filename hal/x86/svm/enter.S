/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into the guest and back. The monitor runs with global interrupts off (GIF = 0, as #VMEXIT leaves it), so an NMI that kicks
 * it stays pending until the guest is entered, and exits at once: no kick can fall between a check and VMRUN.
 * APM vol. 2, 15.17 "Global Interrupt Flag, STGI and CLGI Instructions", 15.13.2 "NMI Intercept".
 *
 * FS, GS, TR, LDTR and the system-call registers stay the guest's all the time: the monitor uses none of them.
 */
#include "hal/x86/svm/vmcb_offsets.h"
#include "hal/x86/registers.inc"

	.text

	/*
	 * svm_enter(rdi = vmcb, rsi = registers). What svm_answer_at_once does needs only the registers that a C function may change, so
	 * the others stay the guest's meanwhile. Nobody looks for kicks before the next run: GIF has been 0 since the exit, and nothing there
	 * takes an NMI, so that of a kick ends the run with VMEXIT_NMI, which is not answered at once.
	 */
	.globl	svm_enter
svm_enter:
	save_own
	movq	%rdi, %rax
	each_kept_register load
1:	movq	8 * RAX_SLOT(%rsi), %rdx
	movq	%rdx, VMCB_RAX(%rax)
	each_scratch_register load
	movq	8 * RSI_SLOT(%rsi), %rsi
	vmrun	%rax
	pushq	%rsi
	movq	8(%rsp), %rsi
	each_scratch_register store
	movq	VMCB_RAX(%rax), %rdx
	movq	%rdx, 8 * RAX_SLOT(%rsi)
	popq	8 * RSI_SLOT(%rsi)
	movq	%rsi, %rdi
	movq	%rax, %rsi
	call	svm_answer_at_once
	movq	(%rsp), %rsi
	testq	%rax, %rax
	jnz	1b
	each_kept_register store
	restore_own
	ret

	/* An NMI between STGI and HLT must not be slept over: svm_nmi then returns to after HLT. */
	.globl	svm_wait
svm_wait:
	stgi
svm_wait_hlt:
	hlt
	clgi
	ret

	.globl	svm_drain
svm_drain:
	stgi
	call	x86_drain
	clgi
	ret

	.globl	svm_nmi
svm_nmi:
	cmpq	$svm_wait_hlt, (%rsp)
	jne	1f
	incq	(%rsp)
1:	iretq
