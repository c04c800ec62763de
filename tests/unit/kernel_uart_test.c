/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.programs BH-F5.board. The sandbox kernel's 16550 in memory, kernel/drivers/ns16550*.c: each register where the grant's `reg-shift`
 * has it, accessed as wide as its `reg-io-width`. The speed stays as firmware left it, with ports a PC's is set; what a DesignWare UART
 * says besides (it was busy) is ended; an interrupt hands over what came, and says whether there is room.
 */
#include <string.h>

#include "abi/guest.h"
#include "arch/arch.h"
#include "check.h"
#include "kernel/drivers/ns16550.h"

enum { BASE = 0x10000, DATA = 0, IER = 1, IIR = 2, LCR = 3, MCR = 4, LSR = 5, USR = 31, NUMBERS = 32, DLAB = 0x80 };

static struct {
	uint8_t data, lcr, ier, divisor;
	unsigned bytes, shift; /* how it wants to be accessed */
	unsigned busy;         /* causes that end when USR is read */
	const char *typed;
	char sent;
	bool has_room;
	unsigned falls; /* of the line, while something is left */
} uart;

static unsigned number(uint64_t address, unsigned bytes)
{
	CHECK_EQ(bytes, uart.bytes);
	CHECK(address >= BASE && (address - BASE) % (1U << uart.shift) == 0);
	CHECK((address - BASE) >> uart.shift < NUMBERS);
	return (unsigned)((address - BASE) >> uart.shift);
}

static uint8_t cause(void)
{
	if (uart.busy)
		return 0xc7;
	if (*uart.typed && uart.ier & 1)
		return 0xc4;
	return uart.has_room && uart.ier & 2 ? 0xc2 : 0xc1;
}

static uint8_t seen(uint64_t address, unsigned bytes)
{
	switch (number(address, bytes)) {
	case DATA:
		return (uint8_t)*uart.typed++;
	case IIR: {
		uint8_t found = cause();

		uart.has_room &= found != 0xc2; /* read, it is over */
		return found;
	}
	case IER:
		return uart.ier;
	case LCR:
		return uart.lcr;
	case LSR:
		return (uint8_t)((*uart.typed ? 1 : 0) | (uart.has_room ? 0x20 : 0));
	case USR:
		uart.busy = 0;
		return 0;
	default:
		CHECK(!"a register that no driver reads");
		return 0;
	}
}

static void wrote(uint64_t address, uint32_t value, unsigned bytes)
{
	switch (number(address, bytes)) {
	case DATA:
		if (uart.lcr & DLAB)
			uart.divisor = (uint8_t)value;
		else
			uart.sent = (char)value;
		break;
	case IER:
		CHECK(!(uart.lcr & DLAB)); /* it would be the divisor's */
		uart.ier = (uint8_t)value;
		uart.falls += !uart.ier && *uart.typed;
		break;
	case LCR:
		uart.lcr = (uint8_t)value;
		break;
	default:
		break;
	}
}

#define MMIO(bits)                                                         \
	uint##bits##_t arch_mmio_read##bits(uint64_t address)              \
	{                                                                  \
		return (uint##bits##_t)seen(address, bits / 8);            \
	}                                                                  \
	void arch_mmio_write##bits(uint64_t address, uint##bits##_t value) \
	{                                                                  \
		wrote(address, value, bits / 8);                           \
	}
MMIO(8)
MMIO(16)
MMIO(32)

static char came[64];

static void received(char c)
{
	came[strlen(came)] = c;
}

/* Somebody types faster than one interrupt may serve. The line is an edge: it falls, so that what is left raises it again. */
static void test_a_flood(const struct uart_driver *driver)
{
	static const char typed[] = "0123456789abcdefghijklmnopqrstuvwxyz";

	memset(came, 0, sizeof(came));
	uart.typed = typed;
	uart.falls = 0;
	for (unsigned interrupts = 1; *uart.typed; interrupts++) {
		driver->serve(received);
		CHECK(interrupts < sizeof(typed));
		CHECK_EQ(uart.falls, *uart.typed ? interrupts : interrupts - 1);
		CHECK_EQ(uart.ier, 1);
	}
	CHECK(uart.falls);
	CHECK(!strcmp(came, typed));
}

static void test(const struct uart_driver *driver, unsigned shift, unsigned width)
{
	const struct bh_grant grant = {
		.kind = BH_GRANT_DEVICE,
		.gpa = BASE,
		.flags = 1 | shift << BH_GRANT_REG_SHIFT | width << BH_GRANT_REG_WIDTH,
	};

	memset(&uart, 0, sizeof(uart));
	memset(came, 0, sizeof(came));
	uart.bytes = width ? width : 1;
	uart.shift = shift;
	uart.lcr = DLAB | 2;
	uart.divisor = 27;
	uart.typed = "ab";
	CHECK_EQ(driver->condition(&grant), DLAB | 2);
	driver->init(&grant);
	CHECK_EQ(uart.lcr, 3);
	CHECK_EQ(uart.ier, 1);
	CHECK_EQ(uart.divisor, 27);
	uart.busy = 1;
	CHECK(!driver->serve(received));
	CHECK(!strcmp(came, "ab") && !uart.busy);
	CHECK(!driver->put('x'));
	uart.has_room = true;
	CHECK(driver->put('y'));
	CHECK_EQ(uart.sent, 'y');
	driver->transmit_interrupt(true);
	CHECK_EQ(uart.ier, 3);
	CHECK(driver->serve(received));
	driver->transmit_interrupt(false);
	CHECK_EQ(uart.ier, 1);
	test_a_flood(driver);
}

static bool knows(const struct uart_driver *driver, const char *wanted)
{
	for (const char *const *name = driver->compatible; *name; name++)
		if (!strcmp(*name, wanted))
			return true;
	return false;
}

int main(void)
{
	check_context.subject = "bytes side by side";
	test(&ns16550_memory, 0, 0);
	check_context.subject = "bytes four apart";
	test(&ns16550_memory, 2, 1);
	check_context.subject = "half words";
	test(&ns16550_memory, 1, 2);
	check_context.subject = "words four apart";
	test(&ns16550_memory, 2, 4);
	CHECK_EQ(ns16550_memory.kind, BH_GRANT_DEVICE);
	CHECK(knows(&ns16550_memory, "ns16550a") && knows(&ns16550_memory, "snps,dw-apb-uart") &&
	      knows(&ns16550_memory, "brcm,bcm2835-aux-uart"));
	return 0;
}
