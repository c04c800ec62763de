/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's q35 machine, AMD SVM: ICH9 with its power-management block where SeaBIOS puts it. */
#pragma once
#include "abi/table.h"
#include "arch/x86_64/board_pc.h"

#define BOARD_RAM { 0, 0x80000000 }

/*
 * No sandbox's, whatever a table says: IOAPIC; IOMMU; local APICs and the addresses whose writes are interrupts; PCI configuration
 * (ECAM) and the window of PCI devices, which do DMA; HPET; root complex (RCBA); flash.
 */
#define BOARD_PRIVATE_SPANS                                                                                                           \
	{ 0xfec00000, 0x1000 }, { 0xfed80000, 0x4000 }, { 0xfee00000, 0x100000 }, { 0xb0000000, 0x4ec00000 }, { 0xfed00000, 0x1000 }, \
		{ 0xfed1c000, 0x4000 }, { 0xff000000, 0x1000000 }

/* PCI: configuration registers of bus 0, the only one; where base addresses may lie. */
#define BOARD_PCI_ECAM     UINT64_C(0xb0000000)
#define BOARD_PCI_WINDOW   { 0xc0000000, 0x3d000000 }
#define BOARD_PCI_PORTS    { 0xc000, 0x4000 }
#define BOARD_PCI_PORTS_AT UINT64_C(0)

/* AMD-Vi, function 00:01.0: where QEMU puts its registers. */
#define BOARD_IOMMU { BH_IOMMU_AMDVI, UINT64_C(0xfed80000), 8 }

#define BOARD_PRIVATE_PORTS PC_PRIVATE_PORTS

/* Legacy memory, where cores start; the firmware's ACPI tables and what its SMM takes (TSEG, 16 MiB in QEMU). */
#define BOARD_RESERVED_RAM { 0x00000000, 0x100000 }, { 0x7f000000, 0x1000000 }

#define BOARD_PRIVATE_LINES PC_PRIVATE_LINES

static const struct board board = {
	.name = "qemu-svm",
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
	.iommu = BOARD_IOMMU,
	.console = { .uart = BOARD_UART_16550_PORTS, .address = 0x3f8, .stride = 1 },
	.pc = {
		.exit_port = 0xf4,
		.pm_timer_port = 0x608,
		.ioapic = 0xfec00000,
		.trampoline = 0x8000,
	},
};
