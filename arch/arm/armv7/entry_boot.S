/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where cores come in, MMU off, one to one: the boot core at _start (from `-kernel`, or a loader that enters in Hyp mode),
 * every other at core_start (from PSCI CPU_ON) or core_start_released (from a spin table). Both get a start-up stack and, in Hyp mode, the start-up map. Entered in
 * another mode, the boot core goes on as it is: the monitor then has only to say that it cannot start. Machines without
 * firmware may start every core at once: all but the first stop here.
 */
#include "arch/arm/start_stacks.h"
#include "mmu.h"

#define MODE_MASK 0x1f
#define MODE_HYP 0x1a

	.syntax	unified
	.arch_extension virt
	.arm
	.section .boot.entry, "ax"
	.global	_start
	.type	_start, %function
_start:
	cpsid	aif
	mrc	p15, 0, r0, c0, c0, 5 /* MPIDR */
	lsls	r0, r0, #8
	bne	stop
	ldr	r0, =__boot_bss_start
	ldr	r1, =__boot_bss_end
	bl	clear
	ldr	r0, =__resident_data_start
	ldr	r1, =__resident_data_end
	bl	clear
	ldr	r0, =start_stacks
	ldr	r1, =start_stacks_end
	bl	discard
	ldr	sp, =start_stacks + BOOT_STACK_BYTES
	bl	start_map_make
	mov	r4, #0
	bl	prepare_core
	bl	monitor_boot

/* r0 = context: the machine core's number. */
	.global	core_start
	.type	core_start, %function
core_start:
	cpsid	aif
	mov	r4, r0
	bl	prepare_core
	mov	r0, r4
	bl	monitor_core_boot

/* From a spin table, which hands over nothing: the number is where hal/arm/spin_table_boot.c put this core's affinity. */
	.global	core_start_released
	.type	core_start_released, %function
core_start_released:
	mrc	p15, 0, r1, c0, c0, 5 /* MPIDR */
	bic	r1, r1, #0xff000000
	ldr	r2, =spin_table_cores
	mov	r0, #0
1:	ldr	r3, [r2, r0, lsl #3] /* the lower half: affinity has 24 bits here */
	cmp	r3, r1
	beq	core_start
	add	r0, r0, #1
	cmp	r0, #START_CORES
	blo	1b

stop:
	wfi
	b	stop

/* [r0, r1), whole pages, at least one */
clear:
	mov	r9, lr
	bl	discard
	bl	zero
	bl	discard
	bx	r9

zero:
	mov	r2, r0
	mov	r5, #0
	mov	r6, #0
	mov	r7, #0
	mov	r8, #0
1:	stm	r2!, {r5-r8}
	stm	r2!, {r5-r8}
	cmp	r2, r1
	blo	1b
	bx	lr

/* The same range: what a loader left in the caches is neither written back over the zeros nor read instead of them. */
discard:
	mrc	p15, 0, r3, c0, c0, 1 /* CTR */
	ubfx	r3, r3, #16, #4 /* DminLine: log2 of the words in the smallest line */
	mov	r2, #4
	lsl	r3, r2, r3
	dsb	sy
	mov	r2, r0
1:	mcr	p15, 0, r2, c7, c6, 1 /* DCIMVAC */
	add	r2, r2, r3
	cmp	r2, r1
	blo	1b
	dsb	sy
	bx	lr

/* r4 = core number. PL2's registers exist only in Hyp mode; elsewhere a trap, as HVC may be one, ends everything. */
prepare_core:
	ldr	r0, =start_stacks + BOOT_STACK_BYTES
	mov	r1, #OTHER_STACK_BYTES
	mla	r0, r4, r1, r0
	mov	sp, r0
	mrs	r0, cpsr
	and	r0, r0, #MODE_MASK
	cmp	r0, #MODE_HYP
	ldrne	r0, =stop_vectors
	mcrne	p15, 0, r0, c12, c0, 0 /* VBAR */
	bxne	lr
	mov	r0, #0
	mov	r1, #0
	mcr	p15, 4, r0, c1, c1, 0 /* HCR: whatever a loader left there is gone */
	mcrr	p15, 4, r0, r1, c14 /* CNTVOFF */
	isb
	ldr	r0, =start_vectors
	mcr	p15, 4, r0, c12, c0, 0 /* HVBAR */
	ldr	r0, =MMU_MAIR
	mcr	p15, 4, r0, c10, c2, 0 /* HMAIR0 */
	mcr	p15, 4, r1, c10, c2, 1 /* HMAIR1 */
	ldr	r0, =MMU_TCR
	mcr	p15, 4, r0, c2, c0, 2 /* HTCR */
	ldr	r0, =start_map
	mcrr	p15, 4, r0, r1, c2 /* HTTBR */
	isb
	mcr	p15, 4, r1, c8, c7, 0 /* TLBIALLH */
	mcr	p15, 0, r1, c7, c5, 0 /* ICIALLU */
	mcr	p15, 0, r1, c7, c5, 6 /* BPIALL */
	dsb	sy
	isb
	ldr	r0, =MMU_SCTLR_ON
	mcr	p15, 4, r0, c1, c0, 0 /* HSCTLR */
	isb
	bx	lr

	.ltorg

/* Nothing may trap during start-up; if something does, it is said, not survived. */
	.balign	32
start_vectors:
	.rept	8
	b	trapped
	.endr
trapped:
	mrc	p15, 4, r0, c5, c2, 0 /* HSR */
	mrs	r1, elr_hyp
	mrc	p15, 4, r2, c6, c0, 0 /* HDFAR */
	bl	start_trapped

	.balign	32
stop_vectors:
	.rept	8
	b	stop
	.endr

	/* Nothing reads a stack before it writes it. */
	.section .boot.stacks, "aw", %nobits
	.balign	4096
start_stacks:
	.space	BOOT_STACK_BYTES + OTHER_STACK_BYTES * (START_CORES - 1)
start_stacks_end:
