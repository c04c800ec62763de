/* SPDX-License-Identifier: Apache-2.0 */
/* Reaches a 16550's registers by I/O ports. */
#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/drivers/ns16550.h"

static uint8_t ports_read(const struct bh_grant *grant, unsigned number)
{
	return x86_in8((uint16_t)(grant->gpa + number));
}

static void ports_write(const struct bh_grant *grant, unsigned number, uint8_t value)
{
	x86_out8((uint16_t)(grant->gpa + number), value);
}

static const struct ns16550_bus ports = { ports_read, ports_write, true };

static uint32_t ports_condition(const struct bh_grant *grant)
{
	return ns16550_condition(&ports, grant);
}

static void ports_init(const struct bh_grant *grant)
{
	ns16550_init(&ports, grant);
}

static const char *const names[] = { "ns16550a", "ns16550", NULL };

const struct uart_driver ns16550_ports = {
	.kind = BH_GRANT_PORTS,
	.compatible = names,
	.condition = ports_condition,
	.init = ports_init,
	.put = ns16550_put,
	.transmit_interrupt = ns16550_transmit_interrupt,
	.receive_interrupt = ns16550_receive_interrupt,
	.serve = ns16550_serve,
};
