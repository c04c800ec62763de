/* SPDX-License-Identifier: Apache-2.0 */
/* What an x86 sandbox may find. */
#include <stddef.h>

#include "kernel/drivers/ns16550.h"
#include "kernel/drivers/x2apic.h"

const struct irq_controller *const irq_controllers[] = { &x2apic, NULL };
const struct uart_driver *const uart_drivers[] = { &ns16550, NULL };
