/* SPDX-License-Identifier: Apache-2.0 */
/* What every PC keeps from its sandboxes. For platforms/NAME/board.h. */
#pragma once
#include "arch/board.h"

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
