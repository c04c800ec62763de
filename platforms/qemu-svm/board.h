/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's q35 machine, AMD SVM: ICH9 with its power-management block where SeaBIOS puts it. */
#pragma once
#include "arch/x86_64/board_x86.h"

#define BOARD_NAME         "qemu-svm"
#define BOARD_RAM_BASE     UINT64_C(0)
#define BOARD_RAM_BYTES    UINT64_C(0x80000000)
#define BOARD_BANKED_BASE  UINT64_C(0)
#define BOARD_BANKED_BYTES UINT64_C(0)

/*
 * No sandbox's, whatever a table says: IOAPIC; local APICs and the addresses whose writes are interrupts; PCI configuration
 * (ECAM) and the window of PCI devices, which do DMA; HPET; root complex (RCBA); flash.
 */
#define BOARD_PRIVATE_SPANS                                                                                                           \
	{ 0xfec00000, 0x1000 }, { 0xfee00000, 0x100000 }, { 0xb0000000, 0x4ec00000 }, { 0xfed00000, 0x1000 }, { 0xfed1c000, 0x4000 }, \
		{ 0xff000000, 0x1000000 }

/* PCI: configuration registers of bus 0, the only one; where base addresses may lie. */
#define BOARD_PCI_ECAM      UINT64_C(0xb0000000)
#define BOARD_PCI_FUNCTIONS 256
#define BOARD_PCI_WINDOW    { 0xc0000000, 0x3d000000 }
#define BOARD_PCI_PORTS     { 0xc000, 0x4000 }
#define BOARD_PCI_PORTS_AT  UINT64_C(0)

#define BOARD_PRIVATE_PORTS PC_PRIVATE_PORTS

/* Legacy memory, where cores start; the firmware's ACPI tables and what its SMM takes (TSEG, 16 MiB in QEMU). */
#define BOARD_RESERVED_RAM { 0x00000000, 0x100000 }, { 0x7f000000, 0x1000000 }

/* xAPIC IDs; 255 is everyone. */
#define BOARD_CORE_ID_MASK     UINT64_C(0xff)
#define BOARD_CORE_ID_GREATEST UINT64_C(0xfe)

/* IOAPIC pins; vectors after the exceptions. */
#define BOARD_PRIVATE_LINES      PC_PRIVATE_LINES
#define BOARD_FIRST_VECTOR       0x20
#define BOARD_FIRST_LEVEL_VECTOR BH_FIRST_LEVEL_VECTOR

static const struct x86_board board = {
	.console_port = 0x3f8,
	.exit_port = 0xf4,
	.pm_timer_port = 0x608,
	.ioapic = 0xfec00000,
	.trampoline = 0x8000,
};
