/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: words by the stretch of 16 registers of 32 bytes, a turn of a loop. wide_boot.c says when. */
#define REGISTER_BYTES	32
#define STRETCH_BYTES	512	/* as wide_boot.c has them in words */

	.text
	/* void x86_wide_repeat(uint64_t *start, size_t stretches, const uint64_t *pattern) */
	.globl	x86_wide_repeat
x86_wide_repeat:
	vmovdqu	(%rdx), %ymm0
1:	.set	at, 0
	.rept	STRETCH_BYTES / REGISTER_BYTES
	vmovdqu	%ymm0, at(%rdi)
	.set	at, at + REGISTER_BYTES
	.endr
	addq	$STRETCH_BYTES, %rdi
	decq	%rsi
	jnz	1b
	ret

	/* void x86_wide_copy(uint64_t *target, const uint64_t *source, size_t stretches) */
	.globl	x86_wide_copy
x86_wide_copy:
2:	.set	at, 0
	.rept	STRETCH_BYTES / REGISTER_BYTES
	vmovdqu	at(%rsi), %ymm0
	vmovdqu	%ymm0, at(%rdi)
	.set	at, at + REGISTER_BYTES
	.endr
	addq	$STRETCH_BYTES, %rsi
	addq	$STRETCH_BYTES, %rdi
	decq	%rdx
	jnz	2b
	ret
