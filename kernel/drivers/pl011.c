/* SPDX-License-Identifier: Apache-2.0 */
/* PrimeCell UART (PL011), DDI 0183, chapter 3 "Programmers Model". */
#include "kernel/drivers/pl011.h"

#include <stddef.h>

#include "kernel/core/cpu.h"

enum {
	UARTDR = 0x000,
	UARTFR = 0x018,
	UARTLCR_H = 0x02c,
	UARTCR = 0x030,
	UARTIMSC = 0x038,
	UARTRIS = 0x03c,
	UARTMIS = 0x040,
	UARTICR = 0x044
};
enum { UARTFR_RXFE = 1 << 4, UARTFR_TXFF = 1 << 5 };
enum { UARTLCR_H_WLEN_8 = 3 << 5 };
enum { UARTCR_UARTEN = 1 << 0, UARTCR_TXE = 1 << 8, UARTCR_RXE = 1 << 9 };
enum { MOST_CHARACTERS = 2 }; /* at once, with FIFOs off: what then is left has come since, and raises the next interrupt */
enum { INTERRUPT_RX = 1 << 4, INTERRUPT_TX = 1 << 5, INTERRUPTS_ALL = 0x7ff };

static uint64_t base;
static uint32_t enabled; /* interrupts */

static uint32_t pl011_condition(const struct bh_grant *grant)
{
	return arch_mmio_read32(grant->gpa + UARTRIS);
}

static void pl011_init(const struct bh_grant *grant)
{
	base = grant->gpa;
	arch_mmio_write32(base + UARTCR, 0);
	arch_mmio_write32(base + UARTLCR_H, UARTLCR_H_WLEN_8);
	arch_mmio_write32(base + UARTICR, INTERRUPTS_ALL);
	enabled = INTERRUPT_RX;
	arch_mmio_write32(base + UARTIMSC, enabled);
	arch_mmio_write32(base + UARTCR, UARTCR_UARTEN | UARTCR_TXE | UARTCR_RXE);
}

static bool pl011_put(char c)
{
	if (arch_mmio_read32(base + UARTFR) & UARTFR_TXFF)
		return false;
	arch_mmio_write32(base + UARTDR, (uint8_t)c);
	return true;
}

static void enable(uint32_t interrupt, bool on)
{
	bool were_enabled = cpu_interrupts_disable();

	enabled = on ? enabled | interrupt : enabled & ~interrupt;
	arch_mmio_write32(base + UARTIMSC, enabled);
	cpu_interrupts_restore(were_enabled);
}

static void pl011_transmit_interrupt(bool on)
{
	arch_mmio_write32(base + UARTICR, INTERRUPT_TX);
	enable(INTERRUPT_TX, on);
}

static void pl011_receive_interrupt(bool on)
{
	enable(INTERRUPT_RX, on);
}

static bool pl011_serve(void (*received)(char c))
{
	uint32_t causes = arch_mmio_read32(base + UARTMIS);

	arch_mmio_write32(base + UARTICR, causes);
	for (unsigned n = 0; n < MOST_CHARACTERS && !(arch_mmio_read32(base + UARTFR) & UARTFR_RXFE); n++)
		received((char)arch_mmio_read32(base + UARTDR));
	return causes & INTERRUPT_TX;
}

static const char *const names[] = { "arm,pl011", NULL };

const struct uart_driver pl011 = {
	.kind = BH_GRANT_DEVICE,
	.compatible = names,
	.condition = pl011_condition,
	.init = pl011_init,
	.put = pl011_put,
	.transmit_interrupt = pl011_transmit_interrupt,
	.receive_interrupt = pl011_receive_interrupt,
	.serve = pl011_serve,
};
