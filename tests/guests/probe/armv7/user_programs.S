/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in user mode, ARM state: probe/user_page.h. R0: the page. */
#include "probe/user_page.h"

#define SPINS (1 << 24)

	.syntax	unified
	.arm
	.fpu	neon

	.macro for_each_register what
	.irp	n, 3,4,5,6,7,8,9,10,11,12,14
	\what	\n
	.endr
	.endm

	.macro mark_register n
	movw	r\n, #(\n * 0x101)
	.endm

	.macro check_register n
	movw	r2, #(\n * 0x101)
	eor	r2, r2, r\n
	orr	r1, r1, r2
	.endm

	.section .rodata.user_programs, "a"
	.balign	4
	.globl	user_programs, user_programs_end, user_spin, user_fp, user_peek, user_call_monitor, user_count
user_programs:
user_spin:
	for_each_register mark_register
	mov	r1, #SPINS
1:	ldr	r2, [r0, #USER_STOP]
	cmp	r2, #0
	bne	2f
	subs	r1, r1, #1
	bne	1b
2:	mov	r1, #0
	for_each_register check_register
	str	r1, [r0, #USER_WRONG]
	mov	r4, r0
	movw	r7, #USER_CALL
	svc	#0
	asr	r1, r0, #31
	strd	r0, r1, [r4, #USER_ANSWER]
	udf	#0

user_fp:
	vmov	r2, r3, d0
	strd	r2, r3, [r0, #USER_SEEN]
	vmov	r2, r3, d31
	strd	r2, r3, [r0, #USER_SEEN + 8]
	ldrd	r2, r3, [r0, #USER_VALUE]
	vmov	d0, r2, r3
	ldrd	r2, r3, [r0, #USER_VALUE + 8]
	vmov	d31, r2, r3
	mrc	p15, 0, r1, c13, c0, 3	/* TPIDRURO */
	ldrd	r2, r3, [r1]
	strd	r2, r3, [r0, #USER_THREAD]
	udf	#0

user_peek:
	ldr	r1, [r0, #USER_VALUE]
	ldr	r1, [r1]
	udf	#0

user_call_monitor:
	ldr	r0, [r0, #USER_VALUE]
	.arch_extension virt
	hvc	#0
	mov	r1, #0
	ldr	r1, [r1]

user_count:
	mrc	p15, 0, r1, c9, c13, 0	/* PMCCNTR */
	mov	r1, #0
	ldr	r1, [r1]
user_programs_end:
