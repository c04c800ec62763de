/* SPDX-License-Identifier: Apache-2.0 */
/* What a PC board is, beyond what the processor tells about itself. platforms/<name>/board.h holds one const instance. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct x86_board {
	uint16_t console_port;  /* 16550 UART that start-up may write to */
	uint16_t exit_port;     /* how an emulator is ended; 0: not at all */
	const char *exit_word;  /* written to it, byte by byte; NULL: a 32-bit write of n ends with status 2n+1 */
	uint16_t pm_timer_port; /* ACPI power-management timer, PM_TMR_BLK */
	uint64_t ioapic;        /* HPA */
	uint64_t trampoline;    /* free page below 1 MiB for starting cores */
	/*
	 * Guests may fetch from pages of 2 MiB and 1 GiB even where the processor does not deny the page-size-change machine check:
	 * an emulator's has none, whatever model it shows.
	 */
	bool large_code_pages;
	bool counters_only_shown; /* an emulator's CPUID tells of performance counters and sampling that it does not have */
};

/*
 * No sandbox's on any PC, whatever a table says: 8237 DMA, 8259, PIT, keyboard controller and its reset, RTC, DMA pages and
 * POST, system control port A, second 8259, APM and SMI, second 8237, the coprocessor's IGNNE#, Bochs' text port, QEMU's exit, IDE and
 * floppy, ELCR, fw_cfg, power management, SMBus, hot plug, PCI configuration and reset, Bochs' exit, power management and SMBus of a PIIX4,
 * PCI devices. The tool reads this list, too.
 */
#define PC_PRIVATE_PORTS                                                                                                         \
	{ 0x00, 0x20 }, { 0x20, 2 }, { 0x40, 4 }, { 0x60, 5 }, { 0x70, 2 }, { 0x80, 16 }, { 0x92, 1 }, { 0xa0, 2 }, { 0xb2, 2 }, \
		{ 0xc0, 0x20 }, { 0xe9, 1 }, { 0xf0, 2 }, { 0xf4, 4 }, { 0x170, 8 }, { 0x1f0, 8 }, { 0x370, 8 }, { 0x3f0, 8 },   \
		{ 0x4d0, 2 }, { 0x510, 12 }, { 0x600, 0x80 }, { 0x700, 0x40 }, { 0xcc0, 0x38 }, { 0xcf8, 8 }, { 0x8900, 1 },     \
		{ 0xb000, 0x200 }, { 0xc000, 0x4000 }

/*
 * No sandbox's either: the pin of FERR#. Any core whose guest clears CR0.NE raises it, by an x87 exception, and it goes to whoever has the
 * pin. SDM vol. 1, 8.7.2 "MS-DOS Compatibility Sub-mode".
 */
#define PC_PRIVATE_LINES { 13, 1 }
