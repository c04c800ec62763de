/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into the guest and back. The monitor runs with global interrupts off (GIF = 0, as #VMEXIT leaves it), so an NMI that kicks
 * it stays pending until the guest is entered, and exits at once: no kick can fall between a check and VMRUN.
 * APM vol. 2, 15.17 "Global Interrupt Flag, STGI and CLGI Instructions", 15.13.2 "NMI Intercept".
 *
 * FS, GS, TR, LDTR and the system-call registers stay the guest's all the time: the monitor uses none of them.
 */
	.text

	/* Guest registers in memory order (struct x86_registers); RAX and RSP are in the VMCB, RSI comes last. */
	.macro	each_register operation
	\operation	rbx, 1
	\operation	rcx, 2
	\operation	rdx, 3
	\operation	rdi, 5
	\operation	rbp, 6
	\operation	r8, 8
	\operation	r9, 9
	\operation	r10, 10
	\operation	r11, 11
	\operation	r12, 12
	\operation	r13, 13
	\operation	r14, 14
	\operation	r15, 15
	.endm
	.macro	load name, slot
	movq	8 * \slot(%rsi), %\name
	.endm
	.macro	store name, slot
	movq	%\name, 8 * \slot(%rsi)
	.endm
#define RSI_SLOT 4

	/* svm_enter(rdi = vmcb, rsi = registers) */
	.globl	svm_enter
svm_enter:
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	pushq	%rsi
	movq	%rdi, %rax
	each_register load
	movq	8 * RSI_SLOT(%rsi), %rsi
	vmrun	%rax
	pushq	%rsi
	movq	8(%rsp), %rsi
	each_register store
	popq	8 * RSI_SLOT(%rsi)
	popq	%rsi
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	ret

	/* An NMI between STGI and HLT must not be slept over: svm_nmi then returns behind HLT. */
	.globl	svm_wait
svm_wait:
	stgi
svm_wait_hlt:
	hlt
	clgi
	ret

	/* STI takes effect behind the next instruction. APM vol. 3, "STI". */
	.globl	svm_drain
svm_drain:
	stgi
	sti
	nop
	cli
	clgi
	ret

	.globl	svm_nmi
svm_nmi:
	cmpq	$svm_wait_hlt, (%rsp)
	jne	1f
	incq	(%rsp)
1:	iretq
