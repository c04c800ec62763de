/* SPDX-License-Identifier: Apache-2.0 */
/* The general registers at the first instruction, and at the last. LEFT is no address of this sandbox: a load from there faults in stage 2. */
#define LEFT_LOW	0xc2e0
#define LEFT_HIGH	0x5e

	.text
	.globl	_start
_start:
	stp	x0, x1, [sp, #-16]!
	adrp	x0, forgets_general
	add	x0, x0, :lo12:forgets_general
	stp	x2, x3, [x0, #16]
	ldp	x2, x3, [sp], #16
	stp	x2, x3, [x0]
	.irp	n, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28
	str	x\n, [x0, #8 * \n]
	.endr
	.irp	n, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 30
	str	x\n, [x0, #8 * \n]
	.endr
	mov	x1, sp
	str	x1, [x0, #8 * 31]
	mrs	x1, NZCV
	str	x1, [x0, #8 * 32]
	mov	x0, x2
	b	forgets_main

	.globl	forgets_crash
forgets_crash:
	mov	w0, #LEFT_LOW
	movk	w0, #LEFT_HIGH, lsl #16
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
	mov	x\n, x0
	.endr
	mov	sp, x0
	cmp	x0, x0
	ldr	x0, [x0]
	b	.
