/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: descriptors, the way from start-up's address space to a private one, and what becomes of a monitor that traps.
 * Everything here is at the same address in both spaces, and so are GDTR and IDTR, which nobody reloads.
 */
#define TRAPS			19		/* no other gate leads here, gates_boot.c */
#define VECTORS_WITH_ERROR	0x60227d00	/* APM vol. 2, 8.2 "Vectors", table 8-1 */
#define STACK_BYTES		4096
#define APIC_ISR_0		0x810		/* vectors 31:0. SDM vol. 3A, table 11-6 "Local APIC Register Address Map" */

	.section .vectors, "ax"

	/* x86_space_enter(rdi = root, rsi = stack_top, rdx = function, rcx = argument) */
	.globl	x86_space_enter
x86_space_enter:
	movq	%rsi, %rsp	/* both spaces see this stack: an NMI in between finds it */
	movq	%rdi, %cr3
	pushq	%rcx
	pushq	%rdx
	movq	%rcx, %rdi
	call	*%rdx

	/* STI takes effect after the next instruction: what is taken is taken before CLI. APM vol. 3, "STI". */
	.globl	x86_drain
x86_drain:
	sti
	nop
drained:
	cli
	ret

	/* Gates of external interrupts lead here: only a monitor that wants to be rid of them lets them in. */
	.globl	x86_ignore
x86_ignore:
	iretq

	/* Those of exceptions here, 4 bytes a vector: all of them are within reach of a short jump. */
	.globl	x86_traps
	.balign	4
x86_traps:
	.set	vector, 0
	.rept	TRAPS
	pushq	$vector
	jmp	trapped
	.balign	4
	.set	vector, vector + 1
	.endr

	/*
	 * An interrupt may have any of these vectors, below 16 on emulators alone. It is let in by x86_drain, whose caller has ended all that was
	 * in service: there, and in service now, it is one. No error code looks like the address. SDM vol. 3A, 11.8.4 "Interrupt Acceptance for
	 * Fixed Interrupts".
	 *
	 * An exception in a monitor is a bug of ours, or a machine check, confined to this sandbox: start over from the top of the
	 * stack, where x86_space_enter left the argument and the function, so that it is recorded and parked. Start-up just ends.
	 */
trapped:
	popq	%rdi
	cmpq	$drained, (%rsp)
	jne	1f
	movl	$APIC_ISR_0, %ecx
	rdmsr
	btl	%edi, %eax
	jc	x86_ignore
1:	movl	%edi, %ecx
	xorl	%edx, %edx
	movl	$VECTORS_WITH_ERROR, %eax
	btl	%ecx, %eax
	jnc	1f
	popq	%rdx
1:	popq	%rsi
	cmpq	$__boot_end, %rsp
	jb	arch_halt
	orq	$STACK_BYTES - 1, %rsp
	subq	$15, %rsp
	movq	8(%rsp), %rdi
	movq	%rsi, (%rdi)	/* struct x86_trap */
	movq	%rcx, 8(%rdi)
	movq	%rdx, 16(%rdi)
	call	*(%rsp)

	.globl	arch_halt
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
