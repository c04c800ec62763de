/* SPDX-License-Identifier: Apache-2.0 */
/* Intel 82093AA data sheet, 3.1 "Memory Mapped Registers for Accessing IOAPIC Registers", 3.2 "IOAPIC Registers". */
#pragma once
#include "board.h"
#include "hal/x86/apic/ioapic.h"

enum { IOREGSEL = 0x00, IOWIN = 0x10, IOAPICVER = 1, IOREDTBL = 0x10 };
enum { IOAPICVER_82093AA = 0x11, IOAPICVER_ENTRIES_SHIFT = 16 };
enum {
	REDIRECTION_VECTOR = 0xff,
	REDIRECTION_STATUS = 1 << 12,
	REDIRECTION_ACTIVE_LOW = 1 << 13,
	REDIRECTION_REMOTE_IRR = 1 << 14,
	REDIRECTION_LEVEL = 1 << 15,
	REDIRECTION_MASKED = 1 << 16,
	DESTINATION_SHIFT = 24,
};

/* The index register and its window are a pair: under HAL_LOCK_IOAPIC, or at start-up, on the only core that runs. */
void ioapic_write(uint32_t index, uint32_t value);
uint32_t ioapic_read(uint32_t index);
