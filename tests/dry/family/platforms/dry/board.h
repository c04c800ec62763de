/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU `virt` for RISC-V: hw/riscv/virt.c, virt_memmap[]. */
#pragma once

#define BOARD_NAME "dry"

#define BOARD_RAM_BASE  0x80000000ull
#define BOARD_RAM_BYTES 0x80000000ull

/* Boot console: 16550. */
#define BOARD_UART_BASE 0x10000000ull

#define BOARD_BANKED_BASE  0ull
#define BOARD_BANKED_BYTES 0ull

/* No sandbox's, whatever a table says: PLIC, CLINT, test device, flash, PCI Express. */
#define BOARD_PRIVATE_SPANS \
	{ 0x0c000000, 0x600000 }, { 0x02000000, 0x10000 }, { 0x00100000, 0x1000 }, { 0x20000000, 0x4000000 }, { 0x30000000, 0x10000000 }

#define BOARD_PCI_ECAM      0x30000000ull
#define BOARD_PCI_FUNCTIONS 256
#define BOARD_PCI_WINDOW    { 0x40000000, 0x40000000 }
#define BOARD_PCI_PORTS     { 0x1000, 0xf000 }
#define BOARD_PCI_PORTS_AT  0x03000000ull

/* There are no I/O ports. */
#define BOARD_PRIVATE_PORTS { 0, 0x10000 }

/* Firmware. */
#define BOARD_RESERVED_RAM { BOARD_RAM_BASE, 0x200000 }

/* mhartid. */
#define BOARD_CORE_ID_MASK     0xffull
#define BOARD_CORE_ID_GREATEST BOARD_CORE_ID_MASK

/* Line 0 is none. */
#define BOARD_PRIVATE_LINES      { 0, 1 }
#define BOARD_FIRST_VECTOR       0
#define BOARD_FIRST_LEVEL_VECTOR 0
