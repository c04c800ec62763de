/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A first process of Linux, in Thumb code. It reads its thread's number at the end of IT blocks, as compilers do, and looks whether what
 * follows still sets flags: inside of an IT block it would not. ARMv7 ARM A2.5.2 "IT block state register, ITSTATE".
 */
	.syntax	unified
	.thumb
	.text
	.global	_start
	.thumb_func
_start:
	movs	r4, #0 /* wrong ones */
	movw	r5, #1000
1:	movs	r0, #2
	cmp	r0, #1 /* C = 1, Z = 0 */
	it	hs
	mrchs	p15, 0, r3, c13, c0, 3 /* TPIDRURO */
	b	2f
2:	movs	r1, #0 /* Z = 1 */
	beq	3f
	adds	r4, #1
3:	subs	r5, #1
	cmp	r5, #0
	bne	1b

	adr	r1, right
	cmp	r4, #0
	beq	4f
	adr	r1, wrong
4:	movs	r0, #1
	movs	r2, #13
	movs	r7, #4 /* write */
	svc	#0
	ldr	r0, =0xfee1dead /* LINUX_REBOOT_MAGIC1, MAGIC2, CMD_POWER_OFF */
	ldr	r1, =0x28121969
	ldr	r2, =0x4321fedc
	movs	r7, #88 /* reboot */
	svc	#0
	.balign	4
right:	.ascii	"thumb: right\n"
	.balign	4
wrong:	.ascii	"thumb: wrong\n"
	.balign	4
	.ltorg
