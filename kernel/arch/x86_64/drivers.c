/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drivers of this processor's sandboxes, in the order in which they are tried: interrupt controllers (irq.h), UARTs (uart.h), forms of
 * DMA faults (dma_faults.h).
 */
#include <stddef.h>

#include "kernel/drivers/amdvi_records.h"
#include "kernel/drivers/ns16550.h"
#include "kernel/drivers/pl011.h"
#include "kernel/drivers/x2apic.h"

const struct irq_controller *const irq_controllers[] = { &x2apic, NULL };
const struct uart_driver *const uart_drivers[] = { &ns16550_ports, &ns16550_memory, &pl011, NULL };
const struct dma_fault_form *const dma_fault_forms[] = { &amdvi_records, NULL };
