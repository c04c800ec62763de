/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A further core's first instructions. STARTUP enters the copy of the trampoline that secondary.c has laid below 1 MiB, in real mode;
 * start.S's tables lead it into long mode and up here. APM vol. 2, 14.1.3 "Processor Initialization State", 14.6.1 "Activating Long Mode".
 */
#include "segments.h"

#define CR0_PG_WP_ET_PE	0x80010011
#define CR4_PAE		0x20
#define MSR_EFER	0xc0000080
#define EFER_NXE_LME	0x900

	.section .rodata.trampoline, "a"
	.globl	trampoline, trampoline_end
	.code16
trampoline:
	cli
	mov	$boot_pml4, %eax
	mov	%eax, %cr3
	mov	$CR4_PAE, %eax
	mov	%eax, %cr4
	mov	$MSR_EFER, %ecx
	rdmsr
	or	$EFER_NXE_LME, %eax
	wrmsr
	lgdtl	%cs:(gdt_pointer - trampoline)
	mov	$CR0_PG_WP_ET_PE, %eax
	mov	%eax, %cr0
	ljmpl	$SELECTOR_CODE, $secondary
gdt_pointer:
	.word	boot_gdt_limit
	.long	boot_gdt
trampoline_end:

	.text
	.code64
secondary:
	mov	$SELECTOR_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	xor	%eax, %eax
	mov	%eax, %fs
	mov	%eax, %gs
	cld
	mov	secondary_request, %rax		/* root, stack_top */
	mov	secondary_request + 8, %rsp
	mov	%rax, %cr3
	xor	%ebp, %ebp
	call	secondary_main			/* does not return; pushes the address that keeps the stack aligned */
