/* SPDX-License-Identifier: Apache-2.0 */
/* Bochs' PC, Intel VT-x: i440FX and PIIX4, power-management block where both its BIOS and SeaBIOS put it. */
#pragma once
#include "abi/table.h"
#include "arch/x86_64/board_pc.h"

#define BOARD_RAM { 0, 0x80000000 }

/*
 * No sandbox's, whatever a table says: IOAPIC; local APICs and the addresses whose writes are interrupts; the window of PCI
 * devices, which do DMA; HPET; firmware.
 */
#define BOARD_PRIVATE_SPANS \
	{ 0xfec00000, 0x1000 }, { 0xfee00000, 0x100000 }, { 0xc0000000, 0x3ec00000 }, { 0xfed00000, 0x1000 }, { 0xff000000, 0x1000000 }

/* PCI: configuration registers of bus 0, the only one, are behind ports alone; where base addresses may lie. */
#define BOARD_PCI_ECAM     UINT64_C(0)
#define BOARD_PCI_WINDOW   { 0xc0000000, 0x3d000000 }
#define BOARD_PCI_PORTS    { 0xc000, 0x4000 }
#define BOARD_PCI_PORTS_AT UINT64_C(0)

#define BOARD_PRIVATE_PORTS PC_PRIVATE_PORTS

/* Legacy memory, where cores start; the firmware's ACPI tables. */
#define BOARD_RESERVED_RAM { 0x00000000, 0x100000 }, { 0x7fe00000, 0x200000 }

#define BOARD_PRIVATE_LINES PC_PRIVATE_LINES

static const struct board board = {
	.name = "bochs-vtx",
	.ram = BOARD_SPANS(BOARD_RAM),
	.reserved_ram = BOARD_SPANS(BOARD_RESERVED_RAM),
	.private_spans = BOARD_SPANS(BOARD_PRIVATE_SPANS),
	.private_ports = BOARD_SPANS(BOARD_PRIVATE_PORTS),
	.private_lines = BOARD_SPANS(BOARD_PRIVATE_LINES),
	/* xAPIC IDs; 255 is everyone. */
	.core_id_mask = 0xff,
	.core_id_greatest = 0xfe,
	/* After the exceptions. */
	.first_vector = 0x20,
	.first_level_vector = BH_FIRST_LEVEL_VECTOR,
	.pci = {
		.ecam = BOARD_PCI_ECAM,
		.functions = 256,
		.window = BOARD_PCI_WINDOW,
		.ports = BOARD_PCI_PORTS,
		.ports_at = BOARD_PCI_PORTS_AT,
	},
	.console = { .uart = BOARD_UART_16550_PORTS, .address = 0x3f8, .stride = 1 },
	.pc = {
		.exit_port = 0x8900,
		.exit_word = "Shutdown",
		.pm_timer_port = 0xb008,
		.ioapic = 0xfec00000,
		.trampoline = 0x8000,
		.large_code_pages = true,
		.counters_only_shown = true,
	},
};
