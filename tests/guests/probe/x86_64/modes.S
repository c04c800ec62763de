/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Out of long mode and back, for attempts in other modes: uint64_t modes_protected(a, b) and modes_real(a, b) call the code at MODES_PAGE
 * + MODES_CODE with EDI and ESI, and return EAX. Paging is off in both, so that an address is a guest-physical one. DS, ES and SS span
 * 4 GiB also in real mode, as their hidden parts are those of protected mode. Exceptions and interrupts find an empty IDT: they end the
 * sandbox. APM vol. 2, 14.7 "Leaving Long Mode", 4.5.2 "Segment Registers in 64-Bit Mode", 4.7 "Legacy Segment Descriptors".
 */
#include "modes.h"
#include "segments.h"

#define CR0_PE		1
#define CR0_PG_BIT	31

	.text
	.code64
	.globl	modes_protected, modes_real
modes_real:
	mov	$leave_for_real, %eax
	jmp	1f
modes_protected:
	mov	$leave_for_protected, %eax
1:	cli
	push	%rbx
	push	%rbp
	sub	$32, %rsp
	sgdt	(%rsp)
	sidt	16(%rsp)
	lgdt	gdt_pointer
	lidt	idt_pointer
	push	$SELECTOR_CODE_32
	push	%rax
	lretq

	.code32
leave_for_protected:
	call	leave_long_mode
	mov	$MODES_PAGE + MODES_CODE, %eax
	call	*%eax
return_to_long_mode:
	mov	%cr0, %ebp
	bts	$CR0_PG_BIT, %ebp
	mov	%ebp, %cr0			/* EFER.LME, CR4.PAE and CR3 are what they were */
	ljmp	$SELECTOR_CODE, $1f
	.code64
1:	mov	%eax, %eax			/* what is above 32 bits is undefined */
	mov	%esp, %esp
	lgdt	(%rsp)
	lidt	16(%rsp)
	add	$32, %rsp
	pop	%rbp
	pop	%rbx
	ret

	.code32
leave_long_mode:
	mov	$SELECTOR_DATA, %eax
	mov	%eax, %ds
	mov	%eax, %es
	mov	%eax, %ss
	mov	%cr0, %ebp
	btr	$CR0_PG_BIT, %ebp
	mov	%ebp, %cr0
	ret
leave_for_real:
	call	leave_long_mode
	ljmp	$SELECTOR_CODE_16, $(enter_real - modes_stub)

/* Lies at MODES_PAGE, too, where real mode reaches it. */
	.section .rodata.modes, "a"
	.globl	modes_stub, modes_stub_end
	.code16
modes_stub:
enter_real:
	mov	%cr0, %ebp
	and	$~CR0_PE, %ebp
	mov	%ebp, %cr0
	ljmp	$(MODES_PAGE >> 4), $(1f - modes_stub)
1:	mov	$MODES_CODE, %ax
	call	*%ax
	mov	%cr0, %ebp
	or	$CR0_PE, %ebp
	mov	%ebp, %cr0
	ljmpl	$SELECTOR_CODE_32, $return_to_long_mode
modes_stub_end:

	.balign	8
gdt:
	.quad	0, 0
	.quad	DESCRIPTOR_CODE
	.quad	DESCRIPTOR_DATA
	.quad	DESCRIPTOR_CODE_32
	.quad	DESCRIPTOR_CODE_16 | MODES_PAGE << 16
gdt_pointer:
	.word	. - gdt - 1
	.quad	gdt
idt_pointer:
	.word	0
	.quad	0
