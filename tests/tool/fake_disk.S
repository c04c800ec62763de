/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A boot sector that knows what a tool's test wants to see of a machine: it leaves a word in RAM, says a long line, sends back
 * what it hears with one bit flipped, and at a Z (sent back too) ends Bochs.
 */
#define COM1		0x3f8
#define UART_FCR	2
#define UART_LCR	3
#define UART_LSR	5
#define LCR_DLAB	0x80
#define LCR_8_BITS	0x03
#define LSR_DR		0x01
#define LSR_THRE	0x20
#define FCR_ENABLE	0x07
#define BOCHS_EXIT	0x8900

#define MARK_SEGMENT	0x5000
#define LINE_BYTES	4000

	.code16
	.section .text
	.globl	_start
_start:
	ljmp	$0, $1f
1:	xorw	%ax, %ax
	movw	%ax, %ds
	movw	%ax, %ss
	movw	$0x7c00, %sp
	movw	$MARK_SEGMENT, %ax
	movw	%ax, %es
	movl	$0x600dcafe, %es:0
	/* 115200 baud, 8 bits. */
	movw	$COM1 + UART_LCR, %dx
	movb	$LCR_DLAB, %al
	outb	%al, %dx
	movw	$COM1, %dx
	movw	$1, %ax
	outw	%ax, %dx
	movw	$COM1 + UART_LCR, %dx
	movb	$LCR_8_BITS, %al
	outb	%al, %dx
	movw	$COM1 + UART_FCR, %dx
	movb	$FCR_ENABLE, %al
	outb	%al, %dx

	movw	$LINE_BYTES, %cx
2:	movb	%cl, %al
	andb	$15, %al
	addb	$'a', %al
	call	say
	loop	2b
	movb	$'\n', %al
	call	say

3:	movw	$COM1 + UART_LSR, %dx
	inb	%dx, %al
	testb	$LSR_DR, %al
	jz	3b
	movw	$COM1, %dx
	inb	%dx, %al
	movb	%al, %bl
	xorb	$0x20, %al
	call	say
	cmpb	$'Z', %bl
	jne	3b

	/* The last character has left when the line is idle. */
	movw	$COM1 + UART_LSR, %dx
4:	inb	%dx, %al
	testb	$0x40, %al
	jz	4b
	movw	$word, %si
	movw	$BOCHS_EXIT, %dx
	movw	$8, %cx
	rep	outsb
5:	hlt
	jmp	5b

say:
	movb	%al, %ah
	movw	$COM1 + UART_LSR, %dx
6:	inb	%dx, %al
	testb	$LSR_THRE, %al
	jz	6b
	movb	%ah, %al
	movw	$COM1, %dx
	outb	%al, %dx
	ret

word:
	.ascii	"Shutdown"
	.org	510
	.word	0xaa55
