/* SPDX-License-Identifier: Apache-2.0 */
/* The general registers at the first instruction, and at the last: there is no handler, so an undefined instruction ends in a shutdown. */
#define LEFT	0x5ec2e0

	.text
	.globl	_start
_start:
	.set	slot, 0
	.irp	register, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15
	movq	%\register, forgets_general + 8 * slot(%rip)
	.set	slot, slot + 1
	.endr
	pushfq
	popq	forgets_general + 8 * slot(%rip)
	andq	$-16, %rsp
	call	forgets_main

	.globl	forgets_crash
forgets_crash:
	.irp	register, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15
	movq	$LEFT, %\register
	.endr
	stc
	std
	ud2
