/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/O APIC, start-up only: each granted line is routed, and unmasked for good by its core. No guest and no private monitor maps it:
 * drivers mask at their device. Intel 82093AA data sheet, 3.1 "Memory Mapped Registers for Accessing IOAPIC Registers".
 */
#pragma once
#include <stdint.h>

void ioapic_mask_all(void);
uint32_t ioapic_line_count(void);
/* Masked until its core opens it. flags: enum bh_line_flags. */
void ioapic_route(uint32_t line, uint32_t apic_id, uint8_t vector, uint32_t flags);
/* On a core that can take interrupts: unmasks the lines routed to it. Cores may do so at the same time. */
void ioapic_open(uint32_t apic_id);
