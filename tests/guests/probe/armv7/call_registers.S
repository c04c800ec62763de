/* SPDX-License-Identifier: Apache-2.0 */
/* A call of the monitor with every general register but r0 set: what attack "hvc-registers" looks at. */

	.syntax	unified
	.arch_extension virt
	.arm

/* (function): returns 0 if r1 to r12 and lr are afterwards what they were, else the number of the first that is not; 13: SP; 32: the flags. */
	.text
	.global	call_registers
	.type	call_registers, %function
call_registers:
	push	{r4-r12, lr}
	ldr	r1, =stack
	str	sp, [r1]
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14
	movw	r\n, #0x5a00 + \n
	movt	r\n, #0xc300 + \n
	.endr
	cmp	r1, r1 /* Z and C */
	hvc	#0
	mov	r0, #32
	bne	1f
	bcc	1f
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14
	movw	r0, #0x5a00 + \n
	movt	r0, #0xc300 + \n
	cmp	r\n, r0
	mov	r0, #\n
	bne	1f
	.endr
	ldr	r1, =stack
	ldr	r1, [r1]
	cmp	r1, sp
	moveq	r0, #0
	movne	r0, #13
1:	ldr	r1, =stack
	ldr	sp, [r1]
	pop	{r4-r12, pc}
	.ltorg
	.size	call_registers, . - call_registers

	.bss
	.balign	4
stack:
	.skip	4
