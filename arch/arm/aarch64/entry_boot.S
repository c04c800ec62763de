/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where cores come in, MMU off, one to one: the boot core at _start (from `-kernel`, or from a loader that takes us for Linux
 * and enters at EL2; the device tree it hands over is not read), every other at core_start (from PSCI CPU_ON) or core_start_released (from a spin table). Both get a
 * start-up stack and, at EL2, the start-up map. Entered at another level, the boot core goes on as it is: the monitor then
 * has only to say that it cannot start. Machines without firmware may start every core at once: all but the first stop here.
 */
#include "board.h"
#include "arch/arm/start_stacks.h"
#include "mmu.h"

#define HCR_START (1 << 31) /* RW alone: whatever a loader left there (E2H, TGE) is gone */

	.section .boot.entry, "ax"
	.global _start
_start:
	/* Linux, Documentation/arch/arm64/booting.rst, 4 "Call the kernel image": the header that U-Boot's booti and bootm ask for. */
	b	boot_core
	nop
	.quad	__image_start - BOARD_RAM_BASE	/* text_offset: from 2 MiB aligned RAM */
	.quad	__image_bytes			/* image_size */
	.quad	1 << 1				/* flags: little-endian, 4 KiB pages, text_offset counts from the start of RAM */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0
boot_core:
	msr	DAIFSet, #0xf
	mrs	x0, MPIDR_EL1
	tst	x0, #0xffffff
	b.ne	arch_halt
	ldr	x0, =__boot_bss_start
	ldr	x1, =__boot_bss_end
	bl	clear
	ldr	x0, =__resident_data_start
	ldr	x1, =__resident_data_end
	bl	clear
	ldr	x0, =start_stacks
	ldr	x1, =start_stacks_end
	bl	discard
	ldr	x0, =start_stacks + BOOT_STACK_BYTES
	mov	sp, x0
	bl	start_map_make
	mov	x19, #0
	bl	prepare_core
	b	monitor_boot

/* x0 = context: the machine core's number. */
	.global core_start
core_start:
	msr	DAIFSet, #0xf
	mov	x19, x0
	bl	prepare_core
	mov	w0, w19
	b	monitor_core_boot

/* From a spin table, which hands over nothing: the number is where hal/arm/spin_table_boot.c put this core's affinity. */
	.global core_start_released
core_start_released:
	mrs	x1, MPIDR_EL1
	ldr	x2, =0xff00ffffff /* affinity */
	and	x1, x1, x2
	ldr	x2, =spin_table_cores
	mov	x0, #0
1:	ldr	x3, [x2, x0, lsl #3]
	cmp	x3, x1
	b.eq	core_start
	add	x0, x0, #1
	cmp	x0, #START_CORES
	b.lo	1b
	b	arch_halt

/* [x0, x1), whole pages, at least one */
clear:
	mov	x3, x30
	bl	discard
	bl	zero
	bl	discard
	ret	x3

zero:
	mov	x2, x0
1:	stp	xzr, xzr, [x2], #16
	stp	xzr, xzr, [x2], #16
	stp	xzr, xzr, [x2], #16
	stp	xzr, xzr, [x2], #16
	cmp	x2, x1
	b.lo	1b
	ret

/* The same range: what a loader left in the caches is neither written back over the zeros nor read instead of them. */
discard:
	mrs	x4, CTR_EL0
	ubfx	x4, x4, #16, #4 /* DminLine: log2 of the words in the smallest line */
	mov	x5, #4
	lsl	x4, x5, x4
	dsb	sy
	mov	x2, x0
1:	dc	ivac, x2
	add	x2, x2, x4
	cmp	x2, x1
	b.lo	1b
	dsb	sy
	ret

/* x19 = core number. The upper levels' registers exist only at EL2, so everything else is left alone elsewhere. */
prepare_core:
	ldr	x0, =start_stacks + BOOT_STACK_BYTES
	mov	x1, #OTHER_STACK_BYTES
	madd	x0, x19, x1, x0
	mov	sp, x0
	mrs	x0, CurrentEL
	cmp	x0, #(2 << 2)
	b.ne	1f
	ldr	x0, =HCR_START
	msr	HCR_EL2, x0
	msr	CNTVOFF_EL2, xzr
	isb
	ldr	x0, =start_vectors
	msr	VBAR_EL2, x0
	ldr	x0, =MMU_MAIR
	msr	MAIR_EL2, x0
	ldr	x0, =MMU_TCR
	msr	TCR_EL2, x0
	ldr	x0, =start_map
	msr	TTBR0_EL2, x0
	isb
	tlbi	alle2
	ic	iallu
	dsb	sy
	isb
	ldr	x0, =MMU_SCTLR_ON
	msr	SCTLR_EL2, x0
	isb
1:	ret

	.ltorg

/* Nothing may trap during start-up; if something does, it is said, not survived. */
	.balign	2048
start_vectors:
	.rept	16
	.balign	128
	mrs	x0, ESR_EL2
	mrs	x1, ELR_EL2
	mrs	x2, FAR_EL2
	b	start_trapped
	.endr

	/* Nothing reads a stack before it writes it. */
	.section .boot.stacks, "aw", @nobits
	.balign	4096
start_stacks:
	.space	BOOT_STACK_BYTES + OTHER_STACK_BYTES * (START_CORES - 1)
start_stacks_end:
