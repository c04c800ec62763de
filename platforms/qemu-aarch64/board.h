/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU `virt` with GICv3: hw/arm/virt.c, base_memmap[] and a15irqmap[]. What the monitor must know without any table. */
#pragma once

/* Guest and monitor RAM: `-m 2G`. */
#define BOARD_RAM_BASE 0x40000000ull
#define BOARD_RAM      { BOARD_RAM_BASE, 0x80000000ull }

/* Where the image is linked and loaded: after what a loader hands over, and after firmware, where that stays at the start of RAM. */
#define BOARD_IMAGE_AT 0x40010000

#define BOARD_GICD_BASE 0x08000000ull
#define BOARD_GICR_BASE 0x080a0000ull
#define BOARD_SMMU_BASE 0x09050000ull

/*
 * No sandbox's, whatever a table says: distributor, translation service (ITS), redistributors;
 * flash, fw_cfg, IOMMU, virtio, PCIe (memory, I/O, ECAM; again above RAM), which do DMA or hold what a reset starts.
 */
#define BOARD_PRIVATE_SPANS                                                                                               \
	{ BOARD_GICD_BASE, 0x10000 }, { 0x08080000, 0x20000 }, { BOARD_GICR_BASE, 0xf60000 }, { 0x00000000, 0x08000000 }, \
		{ 0x09020000, 0x1000 }, { BOARD_SMMU_BASE, 0x20000 }, { 0x0a000000, 0x4000 }, { 0x10000000, 0x30000000 }, \
		{ 0x4010000000, 0x10000000 }, { 0x8000000000, 0x8000000000 }

/*
 * PCI Express: configuration registers of bus 0, the only one; where base addresses may lie; ports are memory behind
 * BOARD_PCI_PORTS_AT.
 */
#define BOARD_PCI_ECAM     0x3f000000ull
#define BOARD_PCI_WINDOW   { 0x10000000, 0x2eff0000 }
#define BOARD_PCI_PORTS    { 0x1000, 0xf000 }
#define BOARD_PCI_PORTS_AT 0x3eff0000ull

/* The PCI functions are behind it. */
#define BOARD_IOMMU { BH_IOMMU_SMMUV3, BOARD_SMMU_BASE, 0 }

/* There are no I/O ports. */
#define BOARD_PRIVATE_PORTS { 0, 0x10000 }

/*
 * Below the image: the device tree that a loader hands over. Nothing of the emulator's or U-Boot's lives on in RAM. Where firmware does,
 * its memory stands here and in the board tree's `reserved`, and the image is linked clear of it (BOARD_IMAGE_AT).
 */
#define BOARD_RESERVED_RAM { BOARD_RAM_BASE, 0x10000 }

/* SGIs and PPIs are each core's own; the IOMMU's SPIs 74 to 77 are nobody's. */
#define BOARD_PRIVATE_LINES { 0, 32 }, { 106, 4 }

#ifndef __ASSEMBLER__
#include "arch/board.h"

static const struct board board = {
	.name = "qemu-aarch64",
	.ram = BOARD_SPANS(BOARD_RAM),
	.reserved_ram = BOARD_SPANS(BOARD_RESERVED_RAM),
	.private_spans = BOARD_SPANS(BOARD_PRIVATE_SPANS),
	.private_ports = BOARD_SPANS(BOARD_PRIVATE_PORTS),
	.private_lines = BOARD_SPANS(BOARD_PRIVATE_LINES),
	/* MPIDR_EL1: Aff3 and Aff2 to Aff0. */
	.core_id_mask = 0xff00ffffff,
	.core_id_greatest = 0xff00ffffff,
	.pci = {
		.ecam = BOARD_PCI_ECAM,
		.functions = 256,
		.window = BOARD_PCI_WINDOW,
		.ports = BOARD_PCI_PORTS,
		.ports_at = BOARD_PCI_PORTS_AT,
	},
	.iommu = BOARD_IOMMU,
	.console = { .uart = BOARD_UART_PL011, .address = 0x09000000 },
	.gic = {
		.distributor = BOARD_GICD_BASE,
		.redistributors = BOARD_GICR_BASE,
		.translators = BOARD_SPANS({ 0x08080000, 0x20000 }),
	},
	.start = { .by = BOARD_START_PSCI },
};
#endif
