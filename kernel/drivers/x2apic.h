/* SPDX-License-Identifier: Apache-2.0 */
/* The local APIC in x2APIC mode, as an interrupt controller of irq.h, and commands that are no interrupts. */
#pragma once
#include "kernel/core/irq.h"

extern const struct irq_controller x2apic;

/* The vector that this core serves, the highest; 0: none. */
uint32_t x2apic_in_service(void);

/* Interrupts that are none: SDM vol. 3A, 11.6.1 "Interrupt Command Register (ICR)"; STARTUP with the number of a page. */
enum { X2APIC_SMI = 2 << 8, X2APIC_INIT = 5 << 8, X2APIC_STARTUP = 6 << 8 };

/* Sends to core `slot` of the sandbox. */
void x2apic_command(unsigned slot, uint32_t command);
