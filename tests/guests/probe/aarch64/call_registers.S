/* SPDX-License-Identifier: Apache-2.0 */
/* A call of the monitor with every general register but x0 set: what attack "hvc-registers" looks at. */

/* (function): returns 0 if x1 to x30 are afterwards what they were, else the number of the first that is not; 31: SP; 32: the flags. */
	.text
	.global	call_registers
	.type	call_registers, %function
call_registers:
	stp	x29, x30, [sp, #-96]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	mov	x1, sp
	adrp	x2, stack
	str	x1, [x2, #:lo12:stack]
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	mov	x\n, #0x5a00 + \n
	movk	x\n, #0xc300 + \n, lsl #48
	.endr
	cmp	xzr, xzr /* Z and C */
	hvc	#0
	mov	x0, #32
	b.ne	1f
	b.cc	1f
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	mov	x0, #0x5a00 + \n
	movk	x0, #0xc300 + \n, lsl #48
	cmp	x\n, x0
	mov	x0, #\n
	b.ne	1f
	.endr
	adrp	x2, stack
	ldr	x1, [x2, #:lo12:stack]
	mov	x2, sp
	cmp	x1, x2
	mov	x0, #31
	csel	x0, xzr, x0, eq
1:	adrp	x2, stack
	ldr	x1, [x2, #:lo12:stack]
	mov	sp, x1
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #96
	ret
	.size	call_registers, . - call_registers

	.bss
	.balign	8
stack:
	.skip	8
