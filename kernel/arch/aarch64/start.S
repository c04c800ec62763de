/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First instructions. EL1h, MMU off, interrupts masked, x0 = struct bh_info or 0 (abi/guest.h; the bare emulator enters an
 * ELF with x0 = 0). The stack that a monitor gives is not used: our own is the same in both worlds.
 */
#include "core_start.h"

	.section .text.start, "ax"
	.globl	_start
_start:
	msr	daifset, #0xf
	adrp	x1, stack_top
	add	x1, x1, :lo12:stack_top
	mov	sp, x1
	adrp	x1, bss_start
	add	x1, x1, :lo12:bss_start
	adrp	x2, bss_end
	add	x2, x2, :lo12:bss_end
1:	stp	xzr, xzr, [x1], #16
	cmp	x1, x2
	b.lo	1b
	mov	x29, xzr
	mov	x30, xzr
	b	kernel_main

/*
 * A further core of the sandbox: the same state, but x0 = struct core_start, cleaned to memory. Nothing is written before the
 * MMU and caches are on.
 */
	.globl	core_start
core_start:
	msr	daifset, #0xf
	ldp	x1, x2, [x0, #CORE_START_SLOT]	/* and stack */
	msr	tpidr_el1, x1
	mov	sp, x2
	ldp	x1, x2, [x0, #CORE_START_MAIR]	/* and TCR */
	msr	mair_el1, x1
	msr	tcr_el1, x2
	ldp	x1, x2, [x0, #CORE_START_TTBR0]	/* and SCTLR */
	msr	ttbr0_el1, x1
	ldp	x3, x4, [x0, #CORE_START_ENTRY]	/* and VBAR */
	msr	vbar_el1, x4
	isb
	tlbi	vmalle1
	ic	iallu
	dsb	nsh
	isb
	msr	sctlr_el1, x2
	isb
	msr	daifclr, #4
	mov	x29, xzr
	mov	x30, xzr
	br	x3

	.section .bss.stack, "aw", %nobits
	.balign	16
	.skip	16384
stack_top:
