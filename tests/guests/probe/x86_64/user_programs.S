/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in ring 3: probe/user_page.h. RDI: the page. */
#include "probe/user_page.h"

#define SPINS (1 << 24)

	.macro for_each_register what
	.irp	register, rbx,rdx,rsi,rbp,r8,r9,r10,r11,r12,r13,r14,r15
	\what	\register
	.endr
	.endm

	.macro mark_register register
	lea	mark_of_\register(%rip), %\register
	.endm

	.macro check_register register
	lea	mark_of_\register(%rip), %rax
	xor	%\register, %rax
	or	%rax, %rcx
	.endm

	.macro mark_place register
mark_of_\register:
	nop
	.endm

	.section .rodata.user_programs, "a"
	.globl	user_programs, user_programs_end, user_spin, user_fp, user_peek, user_call_monitor, user_count
user_programs:
user_spin:
	for_each_register mark_register
	mov	$SPINS, %ecx
1:	cmpq	$0, USER_STOP(%rdi)
	jne	2f
	dec	%ecx
	jnz	1b
2:	xor	%ecx, %ecx
	for_each_register check_register
	mov	%rcx, USER_WRONG(%rdi)
	mov	$USER_CALL, %eax
	syscall
	mov	%rax, USER_ANSWER(%rdi)
	ud2

user_fp:
	sub	$32, %rsp
	fnstenv	(%rsp)
	mov	12(%rsp), %eax		/* instruction pointer, 32 bits of it: APM vol. 1, 6.2.6 "x87 Environment" */
	mov	%rax, USER_LEFT(%rdi)
	add	$32, %rsp
	fld1
	fstp	%st(0)
	movq	%xmm0, %rax
	mov	%rax, USER_SEEN(%rdi)
	movq	%xmm15, %rax
	mov	%rax, USER_SEEN + 8(%rdi)
	movq	USER_VALUE(%rdi), %xmm0
	movq	USER_VALUE + 8(%rdi), %xmm15
	mov	%fs:0, %rax
	mov	%rax, USER_THREAD(%rdi)
	ud2

user_peek:
	mov	USER_VALUE(%rdi), %rax
	mov	(%rax), %rax
	ud2

user_call_monitor:
	xor	%eax, %eax
	cpuid
	mov	USER_VALUE(%rdi), %rax
	cmp	$0x6c65746e, %ecx		/* "ntel" of "GenuineIntel" */
	je	1f
	vmmcall
	jmp	2f
1:	vmcall
2:	xor	%eax, %eax
	mov	(%rax), %rax

user_count:
	xor	%ecx, %ecx
	rdpmc
	xor	%eax, %eax
	mov	(%rax), %rax
	for_each_register mark_place	/* addresses no two of which are the same */
user_programs_end:
