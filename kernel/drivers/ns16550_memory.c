/* SPDX-License-Identifier: Apache-2.0 */
/* Reaches a 16550's registers in memory, as far apart and as wide as its grant says. */
#include <stddef.h>

#include "arch/arch.h"
#include "kernel/drivers/ns16550.h"

enum { SHIFTS = 15, WIDTHS = 15 };

static uint64_t place(const struct bh_grant *grant, unsigned number)
{
	return grant->gpa + ((uint64_t)number << (grant->flags >> BH_GRANT_REG_SHIFT & SHIFTS));
}

static uint32_t width(const struct bh_grant *grant)
{
	return grant->flags >> BH_GRANT_REG_WIDTH & WIDTHS;
}

static uint8_t memory_read(const struct bh_grant *grant, unsigned number)
{
	if (width(grant) == 4)
		return (uint8_t)arch_mmio_read32(place(grant, number));
	return width(grant) == 2 ? (uint8_t)arch_mmio_read16(place(grant, number)) : arch_mmio_read8(place(grant, number));
}

static void memory_write(const struct bh_grant *grant, unsigned number, uint8_t value)
{
	if (width(grant) == 4)
		arch_mmio_write32(place(grant, number), value);
	else if (width(grant) == 2)
		arch_mmio_write16(place(grant, number), value);
	else
		arch_mmio_write8(place(grant, number), value);
}

static const struct ns16550_bus memory = { memory_read, memory_write, false };

static uint32_t memory_condition(const struct bh_grant *grant)
{
	return ns16550_condition(&memory, grant);
}

static void memory_init(const struct bh_grant *grant)
{
	ns16550_init(&memory, grant);
}

static const char *const names[] = { "ns16550a", "ns16550", "snps,dw-apb-uart", "brcm,bcm2835-aux-uart", NULL };

const struct uart_driver ns16550_memory = {
	.kind = BH_GRANT_DEVICE,
	.compatible = names,
	.condition = memory_condition,
	.init = memory_init,
	.put = ns16550_put,
	.transmit_interrupt = ns16550_transmit_interrupt,
	.receive_interrupt = ns16550_receive_interrupt,
	.serve = ns16550_serve,
};
