/* SPDX-License-Identifier: Apache-2.0 */
/* An image for the medium `kernel`: it leaves in RAM the state it was entered in, last a word that says so. */
#define PLACE	0x50000
#define MARK	0x600dcafe

	.code32
	.globl	_start
_start:
	movl	$PLACE, %esp
	pushfl
	popl	PLACE + 4
	movl	%cr0, %eax
	movl	%eax, PLACE + 8
	movl	$0, %eax
	movw	%cs, %ax
	movl	%eax, PLACE + 12
	movw	%ds, %ax
	movl	%eax, PLACE + 16
	movw	%es, %ax
	movl	%eax, PLACE + 20
	movw	%ss, %ax
	movl	%eax, PLACE + 24
	movl	above_20_bits, %eax
	movl	%eax, PLACE + 28
	movl	$MARK, PLACE
1:	hlt
	jmp	1b

	.data
above_20_bits:
	.long	0x12345678
