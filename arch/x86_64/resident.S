/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: descriptors, the way from start-up's address space to a private one, and the end of a core that has failed.
 * Everything here is at the same address in both spaces, and so are GDTR and IDTR, which nobody reloads.
 */
	.section .vectors, "ax"

	/* x86_space_enter(rdi = root, rsi = stack_top, rdx = function, rcx = argument) */
	.globl	x86_space_enter
x86_space_enter:
	movq	%rdi, %cr3
	movq	%rsi, %rsp
	movq	%rcx, %rdi
	call	*%rdx

	/* An exception in a monitor is a bug of ours, or a machine check: this core ends, the others do not notice. */
	.globl	x86_stop, arch_halt
x86_stop:
arch_halt:
	cli
	hlt
	jmp	arch_halt

	/* Accessed bits are set beforehand, so that loading a selector writes nothing: this page is read-only. */
	.section .rodata
	.balign	8
	.globl	x86_gdt, x86_gdt_limit, x86_gdt_pointer
x86_gdt:
	.quad	0
	.quad	0x00af9b000000ffff	/* 0x08: 64-bit code. APM vol. 2, 4.8.1 "Code-Segment Descriptors" */
	.quad	0x00cf93000000ffff	/* 0x10: data. 4.8.2 "Data-Segment Descriptors" */
	.set	x86_gdt_limit, . - x86_gdt - 1
x86_gdt_pointer:
	.word	x86_gdt_limit
	.quad	x86_gdt
