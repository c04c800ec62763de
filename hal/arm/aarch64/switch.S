/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between monitor and guest. TPIDR_EL2 = this core's struct hal_core; the monitor runs with everything masked, on SP_EL2.
 *
 *   guest_run:  callee-saved registers on the stack ─► guest registers from the core ─► ERET
 *   vector:     guest registers to the core ─► callee-saved registers from the stack ─► return LEFT_* from guest_run
 *
 * A call that guest_call answers comes back sooner: x20 to x29, which C keeps, stay where they are, as do ELR_EL2, already behind the HVC,
 * and SPSR_EL2. If the monitor traps meanwhile, a record of the crash has these ten as they were at the last exit that took the long way.
 */
#include "arch/arm/aarch64/mmu.h"
#include "hal/arm/aarch64/guest.h"

/* ARM ARM D24.2 "SCTLR_EL1": RES1 bits, MMU and caches off, little-endian. */
#define SCTLR_EL1_RESET 0x30d00800

/*
 * ARM ARM D1.3.5 "Exception vectors": 16 slots of 32 instructions, each a section of its own. The first eight are for exceptions
 * of this level, which are our own mistakes, and need one instruction each; those from guests need three. The rest of a slot holds
 * the code that these lead to, or what vectors.lds puts there.
 */
	.macro own_slot n
	.section .vectors.\n, "ax"
	b	monitor_trapped
	.endm

	.macro guest_slot n, left
	.section .vectors.\n, "ax"
	stp	x0, x1, [sp, #-16]!
	mov	w0, #\left
	b	guest_left
	.endm

	.section .vectors.0, "ax"
	.balign	2048
	.global guest_vectors
guest_vectors:
	own_slot 0
	.global guest_run
guest_run:
	stp	x29, x30, [sp, #-96]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	ldp	x20, x21, [x0, #GUEST_X + 8 * 20]
	ldp	x22, x23, [x0, #GUEST_X + 8 * 22]
	ldp	x24, x25, [x0, #GUEST_X + 8 * 24]
	ldp	x26, x27, [x0, #GUEST_X + 8 * 26]
	ldp	x28, x29, [x0, #GUEST_X + 8 * 28]
	ldp	x1, x2, [x0, #GUEST_PC] /* and GUEST_SPSR */
	msr	ELR_EL2, x1
	msr	SPSR_EL2, x2
guest_resume:
	ldr	x30, [x0, #GUEST_X + 8 * 30]
	ldp	x2, x3, [x0, #GUEST_X + 8 * 2]
	ldp	x4, x5, [x0, #GUEST_X + 8 * 4]
	ldp	x6, x7, [x0, #GUEST_X + 8 * 6]
	ldp	x8, x9, [x0, #GUEST_X + 8 * 8]
	ldp	x10, x11, [x0, #GUEST_X + 8 * 10]
	ldp	x12, x13, [x0, #GUEST_X + 8 * 12]
	ldp	x14, x15, [x0, #GUEST_X + 8 * 14]
	ldp	x16, x17, [x0, #GUEST_X + 8 * 16]
	ldp	x18, x19, [x0, #GUEST_X + 8 * 18]
	ldp	x0, x1, [x0, #GUEST_X]
	eret
	dsb	nsh /* no speculation past the ERET */
	isb

	own_slot 1
guest_left:
	mrs	x1, TPIDR_EL2
	stp	x2, x3, [x1, #GUEST_X + 8 * 2]
	stp	x4, x5, [x1, #GUEST_X + 8 * 4]
	stp	x6, x7, [x1, #GUEST_X + 8 * 6]
	stp	x8, x9, [x1, #GUEST_X + 8 * 8]
	stp	x10, x11, [x1, #GUEST_X + 8 * 10]
	stp	x12, x13, [x1, #GUEST_X + 8 * 12]
	stp	x14, x15, [x1, #GUEST_X + 8 * 14]
	stp	x16, x17, [x1, #GUEST_X + 8 * 16]
	stp	x18, x19, [x1, #GUEST_X + 8 * 18]
	ldp	x2, x3, [sp], #16
	stp	x2, x3, [x1, #GUEST_X]
	mrs	x2, ELR_EL2
	stp	x30, x2, [x1, #GUEST_X + 8 * 30] /* and GUEST_PC */
	mrs	x2, SPSR_EL2
	str	x2, [x1, #GUEST_SPSR]
	cbnz	w0, guest_left_for_long
	mrs	x2, ESR_EL2
	mov	w3, #SYNDROME_PLAIN_CALL
	cmp	x2, x3
	b.ne	guest_left_for_long
	mov	x0, x1
	bl	guest_call
	mrs	x1, TPIDR_EL2
	cbz	w0, guest_left_for_long /* which is LEFT_SYNC */
	mov	x0, x1
	b	guest_resume

	own_slot 2
/* A trap of the monitor is a mistake of ours, confined to this sandbox: start over, so that it is recorded and parked. */
monitor_trapped:
	mrs	x0, TPIDR_EL2
	mrs	x1, ESR_EL2
	str	x1, [x0, #GUEST_TRAP]
resident_start:
	ldp	x1, x2, [x0, #GUEST_STACK_TOP] /* and GUEST_RESIDENT */
	mov	sp, x1
	br	x2

	own_slot 3
/*
 * (core, root of the private tables). Both address spaces hold these instructions at this address, as does physical memory;
 * the MMU is off in between because two translations of one address may not meet in a TLB: ARM ARM D8.16.1
 * "Using break-before-make when updating translation table entries".
 */
	.global guest_space_enter
guest_space_enter:
	ldr	x2, =MMU_SCTLR_OFF
	msr	SCTLR_EL2, x2
	isb
	msr	TTBR0_EL2, x1
	tlbi	alle2
	ic	iallu
	dsb	sy
	isb
	ldr	x2, =MMU_SCTLR_ON | MMU_SCTLR_WXN
	msr	SCTLR_EL2, x2
	isb
	b	resident_start
	.ltorg

	own_slot 4
	.global guest_reset
guest_reset:
	msr	SP_EL1, x0
	mov	w1, #(SCTLR_EL1_RESET & 0xffff)
	movk	w1, #(SCTLR_EL1_RESET >> 16), lsl #16
	msr	SCTLR_EL1, x1
	msr	SP_EL0, xzr
	msr	VBAR_EL1, xzr
	msr	TTBR0_EL1, xzr
	msr	TTBR1_EL1, xzr
	msr	TCR_EL1, xzr
	msr	MAIR_EL1, xzr
	msr	CPACR_EL1, xzr
	msr	MDSCR_EL1, xzr
	msr	CONTEXTIDR_EL1, xzr
	msr	TPIDR_EL0, xzr
	msr	TPIDR_EL1, xzr
	msr	CNTKCTL_EL1, xzr
	ret

	own_slot 5

	own_slot 6
guest_left_for_long:
	stp	x20, x21, [x1, #GUEST_X + 8 * 20]
	stp	x22, x23, [x1, #GUEST_X + 8 * 22]
	stp	x24, x25, [x1, #GUEST_X + 8 * 24]
	stp	x26, x27, [x1, #GUEST_X + 8 * 26]
	stp	x28, x29, [x1, #GUEST_X + 8 * 28]
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #96
	ret

	own_slot 7

	/* From a guest in AArch64 state, then in AArch32 state. */
	guest_slot 8, LEFT_SYNC
	guest_slot 9, LEFT_IRQ
	guest_slot 10, LEFT_FIQ
	guest_slot 11, LEFT_SERROR
	guest_slot 12, LEFT_SYNC
	guest_slot 13, LEFT_IRQ
	guest_slot 14, LEFT_FIQ
	guest_slot 15, LEFT_SERROR
