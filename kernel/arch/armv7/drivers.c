/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drivers of this processor's sandboxes, in the order in which they are tried: interrupt controllers (irq.h), UARTs (uart.h), forms of
 * DMA faults (dma_faults.h).
 */
#include <stddef.h>

#include "kernel/drivers/gicv2.h"
#include "kernel/drivers/ns16550.h"
#include "kernel/drivers/pl011.h"
#include "kernel/drivers/smmuv3_records.h"

const struct irq_controller *const irq_controllers[] = { &gicv2, NULL };
const struct uart_driver *const uart_drivers[] = { &pl011, &ns16550_memory, NULL };
const struct dma_fault_form *const dma_fault_forms[] = { &smmuv3_records, NULL };
