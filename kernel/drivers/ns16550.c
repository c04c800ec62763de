/* SPDX-License-Identifier: Apache-2.0 */
/* Drives a 16550 UART, however its registers are reached (ns16550.h). */
#include "kernel/drivers/ns16550.h"

#include "kernel/core/cpu.h"

enum { DATA = 0, IER = 1, IIR = 2, FCR = 2, LCR = 3, MCR = 4, LSR = 5, DIVISOR_LOW = 0, DIVISOR_HIGH = 1 };
enum { IER_RECEIVED = 1 << 0, IER_TRANSMITTER_EMPTY = 1 << 1 };
enum { IIR_CAUSE = 0xf, IIR_NONE = 0x1, IIR_TRANSMITTER_EMPTY = 0x2 };
/* DesignWare DW_apb_uart Databook, "IIR" and "USR": LCR was written while it sent. The write had no effect; reading USR ends the cause. */
enum { IIR_BUSY = 0x7, USR = 31 };
enum { LCR_8_BITS = 3, LCR_DIVISOR_ACCESS = 1 << 7 };
enum { MCR_DTR = 1 << 0, MCR_RTS = 1 << 1, MCR_INTERRUPTS = 1 << 3 }; /* OUT2 gates the line on a PC */
enum { LSR_DATA_READY = 1 << 0, LSR_TRANSMITTER_EMPTY = 1 << 5 };
enum { MAX_CAUSES = 16, DIVISOR_115200 = 1 };

static const struct ns16550_bus *bus;
static const struct bh_grant *uart;

static void write(unsigned number, unsigned value)
{
	bus->write(uart, number, (uint8_t)value);
}

static unsigned read(unsigned number)
{
	return bus->read(uart, number);
}

uint32_t ns16550_condition(const struct ns16550_bus *by, const struct bh_grant *grant)
{
	return by->read(grant, LCR);
}

static void set_speed(void)
{
	write(LCR, LCR_DIVISOR_ACCESS);
	write(DIVISOR_LOW, DIVISOR_115200);
	write(DIVISOR_HIGH, 0);
}

/* Line control first: divisors stand where IER is as long as an earlier user left them accessible. */
void ns16550_init(const struct ns16550_bus *by, const struct bh_grant *grant)
{
	bus = by;
	uart = grant;
	write(LCR, LCR_8_BITS);
	write(IER, 0);
	if (bus->is_pc)
		set_speed();
	write(LCR, LCR_8_BITS);
	write(FCR, 0);
	write(MCR, MCR_DTR | MCR_RTS | MCR_INTERRUPTS);
	write(IER, IER_RECEIVED);
}

bool ns16550_put(char c)
{
	if (!(read(LSR) & LSR_TRANSMITTER_EMPTY))
		return false;
	write(DATA, (uint8_t)c);
	return true;
}

static void enable(unsigned interrupt, bool on)
{
	bool were_enabled = cpu_interrupts_disable();

	write(IER, on ? read(IER) | interrupt : read(IER) & ~interrupt);
	cpu_interrupts_restore(were_enabled);
}

void ns16550_transmit_interrupt(bool on)
{
	enable(IER_TRANSMITTER_EMPTY, on);
}

void ns16550_receive_interrupt(bool on)
{
	enable(IER_RECEIVED, on);
}

/* The line is an edge: it must have been low before the next cause can raise it. */
bool ns16550_serve(void (*received)(char c))
{
	bool room = false;
	unsigned n;

	for (n = 0; n < MAX_CAUSES; n++) {
		unsigned cause = read(IIR) & IIR_CAUSE;

		if (cause == IIR_NONE)
			break;
		if (cause == IIR_TRANSMITTER_EMPTY)
			room = true;
		else if (cause == IIR_BUSY)
			(void)read(USR);
		else if (read(LSR) & LSR_DATA_READY)
			received((char)read(DATA));
	}
	if (n == MAX_CAUSES) { /* down and up again: what is left is another edge */
		unsigned on = read(IER);

		write(IER, 0);
		write(IER, on);
	}
	return room;
}
