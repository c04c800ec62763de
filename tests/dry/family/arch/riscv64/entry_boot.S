/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot core comes in at _start, in HS mode, translation off: RISC-V SBI, 1.0; a0 = its number, a1 = a device tree, which is not read.
 * No other core is started.
 */
#define STACK_BYTES 8192

	.section .boot.entry, "ax"
	.global _start
_start:
	csrw	sie, zero
	la	sp, start_stack_end
	la	t0, __boot_bss_start
	la	t1, __boot_bss_end
1:	sd	zero, 0(t0)
	addi	t0, t0, 8
	bltu	t0, t1, 1b
	tail	monitor_boot

	.section .boot.stacks, "aw", @nobits
	.balign	4096
	.space	STACK_BYTES
start_stack_end:
