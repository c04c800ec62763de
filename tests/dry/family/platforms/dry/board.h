/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU `virt` for RISC-V: hw/riscv/virt.c, virt_memmap[]. */
#pragma once
#include "arch/board.h"

#define BOARD_RAM_BASE 0x80000000ull
#define BOARD_RAM      { BOARD_RAM_BASE, 0x80000000 }

/* No sandbox's, whatever a table says: PLIC, CLINT, test device, flash, PCI Express. */
#define BOARD_PRIVATE_SPANS \
	{ 0x0c000000, 0x600000 }, { 0x02000000, 0x10000 }, { 0x00100000, 0x1000 }, { 0x20000000, 0x4000000 }, { 0x30000000, 0x10000000 }

#define BOARD_PCI_ECAM     0x30000000ull
#define BOARD_PCI_WINDOW   { 0x40000000, 0x40000000 }
#define BOARD_PCI_PORTS    { 0x1000, 0xf000 }
#define BOARD_PCI_PORTS_AT 0x03000000ull

/* There are no I/O ports. */
#define BOARD_PRIVATE_PORTS { 0, 0x10000 }

/* Firmware. */
#define BOARD_RESERVED_RAM { BOARD_RAM_BASE, 0x200000 }

/* Line 0 is none. */
#define BOARD_PRIVATE_LINES { 0, 1 }

static const struct board board = {
	.name = "dry",
	.ram = BOARD_SPANS(BOARD_RAM),
	.reserved_ram = BOARD_SPANS(BOARD_RESERVED_RAM),
	.private_spans = BOARD_SPANS(BOARD_PRIVATE_SPANS),
	.private_ports = BOARD_SPANS(BOARD_PRIVATE_PORTS),
	.private_lines = BOARD_SPANS(BOARD_PRIVATE_LINES),
	/* mhartid */
	.core_id_mask = 0xff,
	.core_id_greatest = 0xff,
	.pci = {
		.ecam = BOARD_PCI_ECAM,
		.functions = 256,
		.window = BOARD_PCI_WINDOW,
		.ports = BOARD_PCI_PORTS,
		.ports_at = BOARD_PCI_PORTS_AT,
	},
	.console = { .uart = BOARD_UART_16550, .address = 0x10000000, .stride = 1 },
};
