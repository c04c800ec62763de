/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU `virt` with a Cortex-A15 and everything below 4 GiB: hw/arm/virt.c, base_memmap[] and a15irqmap[]. What the monitor
 * must know without any table.
 */
#pragma once

#define BOARD_NAME "qemu-armv7"

/* Guest and monitor RAM: `-m 2G`. */
#define BOARD_RAM_BASE  0x40000000ull
#define BOARD_RAM_BYTES 0x80000000ull

/* Where the image is linked and loaded: after what a loader hands over, and after firmware, where that stays at the start of RAM. */
#define BOARD_IMAGE_AT 0x40010000

/* Boot console: PL011. */
#define BOARD_UART_BASE 0x09000000ull

#define BOARD_GICD_BASE 0x08000000ull
#define BOARD_GICC_BASE 0x08010000ull

/* The CPU interface but for its second page, GICC_DIR: one address, a bank of registers for each core; every sandbox maps it. */
#define BOARD_BANKED_BASE  BOARD_GICC_BASE
#define BOARD_BANKED_BYTES 0x1000ull

/*
 * No sandbox's, whatever a table says: distributor, GICC_DIR, message frame (V2M), the interfaces to virtual interrupts (GICH, GICV);
 * flash, fw_cfg, virtio, PCIe (memory, I/O, ECAM), which do DMA or hold what a reset starts.
 */
#define BOARD_PRIVATE_SPANS                                                                                                  \
	{ BOARD_GICD_BASE, 0x10000 }, { BOARD_GICC_BASE + 0x1000, 0x1000 }, { 0x08020000, 0x1000 }, { 0x08030000, 0x10000 }, \
		{ 0x08040000, 0x10000 }, { 0x00000000, 0x08000000 }, { 0x09020000, 0x1000 }, { 0x0a000000, 0x4000 },         \
		{ 0x10000000, 0x30000000 }

/*
 * PCI Express: configuration registers of bus 0, the only one; where base addresses may lie; ports are memory behind
 * BOARD_PCI_PORTS_AT.
 */
#define BOARD_PCI_ECAM      0x3f000000ull
#define BOARD_PCI_FUNCTIONS 256
#define BOARD_PCI_WINDOW    { 0x10000000, 0x2eff0000 }
#define BOARD_PCI_PORTS     { 0x1000, 0xf000 }
#define BOARD_PCI_PORTS_AT  0x3eff0000ull

/* There are no I/O ports. */
#define BOARD_PRIVATE_PORTS { 0, 0x10000 }

/*
 * Below the image: the device tree that a loader hands over. Nothing of the emulator's or U-Boot's lives on in RAM. Where firmware does,
 * its memory stands here and in the board tree's `reserved`, and the image is linked clear of it (BOARD_IMAGE_AT).
 */
#define BOARD_RESERVED_RAM { BOARD_RAM_BASE, 0x10000 }

/* Aff0: it numbers the eight CPU interfaces. */
#define BOARD_CORE_ID_MASK     7ull
#define BOARD_CORE_ID_GREATEST BOARD_CORE_ID_MASK

/* SGIs and PPIs are each core's own; no vectors. */
#define BOARD_PRIVATE_LINES      { 0, 32 }
#define BOARD_FIRST_VECTOR       0
#define BOARD_FIRST_LEVEL_VECTOR 0
