/* SPDX-License-Identifier: Apache-2.0 */
/* Programs at EL0: probe/user_page.h. X0: the page. */
#include "probe/user_page.h"

#define SPINS_HIGH 0x100 /* 2^24 */

	.arch_extension fp
	.arch_extension simd

	.macro for_each_register what
	.irp	n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	\what	\n
	.endr
	.endm

	.macro mark_register n
	mov	x\n, #(\n * 0x101)
	.endm

	.macro check_register n
	mov	x2, #(\n * 0x101)
	eor	x2, x2, x\n
	orr	x1, x1, x2
	.endm

	.section .rodata.user_programs, "a"
	.balign	4
	.globl	user_programs, user_programs_end, user_spin, user_fp, user_peek, user_call_monitor, user_count
user_programs:
user_spin:
	for_each_register mark_register
	movz	x1, #SPINS_HIGH, lsl #16
1:	ldr	x2, [x0, #USER_STOP]
	cbnz	x2, 2f
	subs	x1, x1, #1
	b.ne	1b
2:	mov	x1, #0
	for_each_register check_register
	str	x1, [x0, #USER_WRONG]
	mov	x19, x0
	mov	x8, #USER_CALL
	svc	#0
	str	x0, [x19, #USER_ANSWER]
	udf	#0

user_fp:
	fmov	x1, d0
	str	x1, [x0, #USER_SEEN]
	mov	x1, v31.d[1]
	str	x1, [x0, #USER_SEEN + 8]
	ldr	x1, [x0, #USER_VALUE]
	fmov	d0, x1
	ldr	x1, [x0, #USER_VALUE + 8]
	mov	v31.d[1], x1
	mrs	x1, tpidr_el0
	ldr	x1, [x1]
	str	x1, [x0, #USER_THREAD]
	udf	#0

user_peek:
	ldr	x1, [x0, #USER_VALUE]
	ldr	x1, [x1]
	udf	#0

user_call_monitor:
	ldr	x0, [x0, #USER_VALUE]
	hvc	#0
	mov	x1, #0
	ldr	x1, [x1]

user_count:
	mrs	x1, pmccntr_el0
	mov	x1, #0
	ldr	x1, [x1]
user_programs_end:
