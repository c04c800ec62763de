/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into the guest and back, and what an NMI means meanwhile. Intel has no flag that holds NMIs off, so one may arrive at any
 * instruction of the monitor. Its handler asks for an exit as soon as the guest could take an NMI: the next entry then exits at
 * once, and no kick can fall between a check and VMRESUME. SDM vol. 3C, 26.2 "Other Causes of VM Exits" (NMI window).
 */
#include "hal/x86/vmx/vmcs.h"
#include "hal/x86/registers.inc"

#define CODE64		0x08
#define DATA		0x10

	.text

	/*
	 * bool vmx_enter(rdi = registers). VMRESUME fails where VMLAUNCH must do it, the first time; where it fails for another reason,
	 * so does VMLAUNCH, with an error of its own, and execution goes on as after an exit, but with CF or ZF set. SDM vol. 3C, 31.2 "Conventions"; 28.5.3: an exit clears both.
	 */
	.globl	vmx_enter, vmx_exit
vmx_enter:
	movq	%rdi, %rsi
	save_own
	movl	$HOST_RSP, %eax
	vmwrite	%rsp, %rax
	each_register load
	movq	8 * RAX_SLOT(%rsi), %rax
	movq	8 * RSI_SLOT(%rsi), %rsi
	vmresume
	vmlaunch
vmx_exit:
	pushq	%rsi
	movq	8(%rsp), %rsi
	each_register store
	movq	%rax, 8 * RAX_SLOT(%rsi)
	popq	8 * RSI_SLOT(%rsi)
	setnbe	%al
	restore_own
	ret

	/* An NMI that came since the last run has left its mark; one that comes here starts this over and finds it. */
	.globl	vmx_wait
vmx_wait:
	movl	$PROCESSOR_BASED_CONTROLS, %edx
	vmread	%rdx, %rax
	btrl	$NMI_WINDOW_EXITING_BIT, %eax
	jc	1f
vmx_wait_hlt:
	hlt
1:	vmwrite	%rax, %rdx
	ret

	.globl	vmx_nmi
vmx_nmi:
	pushq	%rax
	pushq	%rdx
	movl	$PROCESSOR_BASED_CONTROLS, %edx
	vmread	%rdx, %rax
	btsl	$NMI_WINDOW_EXITING_BIT, %eax
	vmwrite	%rax, %rdx
	popq	%rdx
	popq	%rax
	cmpq	$vmx_wait, (%rsp)
	jb	1f
	cmpq	$vmx_wait_hlt, (%rsp)
	ja	1f
	movq	$vmx_wait, (%rsp)
1:	iretq

	/* The exit that an NMI causes blocks further ones until an IRET. SDM vol. 3C, 28.1 "Architectural State Before a VM Exit". */
	.globl	vmx_unblock_nmi
vmx_unblock_nmi:
	popq	%rcx
	movq	%rsp, %rdx
	pushq	$DATA
	pushq	%rdx
	pushfq
	pushq	$CODE64
	pushq	%rcx
	iretq
