/* SPDX-License-Identifier: Apache-2.0 */
/* PC16550D Universal Asynchronous Receiver/Transmitter with FIFOs, 8.0 "Registers", behind I/O ports. */
#include "kernel/drivers/ns16550.h"

#include "kernel/core/cpu.h"

enum { DATA = 0, IER = 1, IIR = 2, FCR = 2, LCR = 3, MCR = 4, LSR = 5, DIVISOR_LOW = 0, DIVISOR_HIGH = 1 };
enum { IER_RECEIVED = 1 << 0, IER_TRANSMITTER_EMPTY = 1 << 1 };
enum { IIR_CAUSE = 0xf, IIR_NONE = 0x1, IIR_TRANSMITTER_EMPTY = 0x2 };
enum { LCR_8_BITS = 3, LCR_DIVISOR_ACCESS = 1 << 7 };
enum { MCR_DTR = 1 << 0, MCR_RTS = 1 << 1, MCR_INTERRUPTS = 1 << 3 }; /* OUT2 gates the line on a PC */
enum { LSR_DATA_READY = 1 << 0, LSR_TRANSMITTER_EMPTY = 1 << 5 };
enum { MAX_CAUSES = 16, DIVISOR_115200 = 1 };

static uint16_t base;

static void write(uint16_t port, unsigned value)
{
	x86_out8(base + port, (uint8_t)value);
}

static unsigned read(uint16_t port)
{
	return x86_in8(base + port);
}

static uint32_t ns16550_condition(const struct bh_grant *grant)
{
	return x86_in8((uint16_t)grant->gpa + LCR);
}

static void ns16550_init(const struct bh_grant *grant)
{
	base = (uint16_t)grant->gpa;
	write(IER, 0);
	write(LCR, LCR_DIVISOR_ACCESS);
	write(DIVISOR_LOW, DIVISOR_115200);
	write(DIVISOR_HIGH, 0);
	write(LCR, LCR_8_BITS);
	write(FCR, 0);
	write(MCR, MCR_DTR | MCR_RTS | MCR_INTERRUPTS);
	write(IER, IER_RECEIVED);
}

static bool ns16550_put(char c)
{
	if (!(read(LSR) & LSR_TRANSMITTER_EMPTY))
		return false;
	write(DATA, (uint8_t)c);
	return true;
}

static void ns16550_transmit_interrupt(bool on)
{
	write(IER, on ? IER_RECEIVED | IER_TRANSMITTER_EMPTY : IER_RECEIVED);
}

/* The line is an edge: it must have been low before the next cause can raise it. */
static bool ns16550_serve(void (*received)(char c))
{
	bool room = false;

	for (unsigned n = 0; n < MAX_CAUSES; n++) {
		unsigned cause = read(IIR) & IIR_CAUSE;

		if (cause == IIR_NONE)
			break;
		if (cause == IIR_TRANSMITTER_EMPTY)
			room = true;
		else if (read(LSR) & LSR_DATA_READY)
			received((char)read(DATA));
	}
	return room;
}

const struct uart_driver ns16550 = {
	.compatible = "ns16550a",
	.condition = ns16550_condition,
	.init = ns16550_init,
	.put = ns16550_put,
	.transmit_interrupt = ns16550_transmit_interrupt,
	.serve = ns16550_serve,
};
