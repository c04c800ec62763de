/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First instructions. In a sandbox: _start, 64-bit mode, RDI = struct bh_info (abi/guest.h). On the bare emulator: _start32,
 * by the PVH entry (Xen public/arch-x86/hvm/start_info.h: 32-bit protected mode, flat segments, no paging), which builds
 * just enough of the same state. The stack that a monitor gives is not used: our own is the same in both worlds.
 */
#include "segments.h"

	.section .note.pvh, "a", @note
	.balign	4
	.long	4, 4, 18		/* name bytes, value bytes, XEN_ELFNOTE_PHYS32_ENTRY */
	.asciz	"Xen"
	.long	_start32

	.section .text.start, "ax"
	.code64
	.globl	_start
_start:
	cli
	cld
	mov	%rdi, %rbx
	mov	$bss_start, %edi
	mov	$bss_end, %ecx
	sub	%edi, %ecx
	shr	$3, %ecx
	xor	%eax, %eax
	rep stosq
	mov	$stack_top, %esp
	mov	%rbx, %rdi
	xor	%ebp, %ebp
	call	kernel_main		/* does not return; pushes the address that keeps the stack aligned */

/* APM vol. 2, 14.6 "Enabling and Activating Long Mode" */
	.code32
_start32:
	cli
	mov	$boot_pml4, %eax
	mov	%eax, %cr3
	mov	%cr4, %eax
	or	$(1 << 5), %eax		/* CR4.PAE */
	mov	%eax, %cr4
	mov	$0xc0000080, %ecx	/* EFER */
	rdmsr
	or	$(1 << 8), %eax		/* LME */
	wrmsr
	mov	%cr0, %eax
	or	$((1 << 31) | 1), %eax	/* CR0.PG, CR0.PE */
	mov	%eax, %cr0
	lgdt	boot_gdt_pointer
	mov	$SELECTOR_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	ljmp	$SELECTOR_CODE, $1f
	.code64
1:	xor	%edi, %edi
	jmp	_start

	.section .rodata.boot, "a"
	.balign	8
	.globl	boot_gdt, boot_gdt_limit
boot_gdt:
	.quad	0, 0
	.quad	DESCRIPTOR_CODE
	.quad	DESCRIPTOR_DATA
	.set	boot_gdt_limit, . - boot_gdt - 1
boot_gdt_pointer:
	.word	boot_gdt_limit
	.long	boot_gdt

/* The first GiB one to one, present and writable, in leaves of 2 MiB. Further cores come in by it, too: secondary.S. */
	.section .data.boot, "aw"
	.balign	4096
	.globl	boot_pml4
boot_pml4:
	.quad	boot_pdpt + 3
	.fill	511, 8, 0
boot_pdpt:
	.quad	boot_pd + 3
	.fill	511, 8, 0
boot_pd:
	.set	leaf, 0x83
	.rept	BOOT_MAPPED / 0x200000
	.quad	leaf
	.set	leaf, leaf + 0x200000
	.endr

	.section .bss.stack, "aw", @nobits
	.balign	16
	.skip	16384
stack_top:
