/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F5.board. The boot console on ARM, arch/arm/console_boot.c: a 16550 whose registers are one byte or four bytes apart, accessed as wide
 * as that. A character is written when there is room, and no later than a bound; the console is left when the last one is sent.
 */
#include <string.h>

#include "arch/arm/console.h"
#include "arch/arch.h"
#include "check.h"

enum { BASE = 0x1000, LSR = 5, ROOM = 0x20, EMPTY = 0x40, BOUND = 3000000 };

static unsigned polls, ready_after, width;
static uint32_t status, written;
static uint64_t written_at;

void arch_relax(void)
{
	CHECK(++polls < BOUND);
}

static uint32_t read(uint64_t address, unsigned bytes)
{
	CHECK_EQ(bytes, width);
	CHECK_EQ(address, BASE + LSR * width);
	return polls >= ready_after ? status : 0;
}

static void write(uint64_t address, uint32_t value, unsigned bytes)
{
	CHECK_EQ(bytes, width);
	written_at = address;
	written = value;
}

uint8_t arch_mmio_read8(uint64_t address)
{
	return (uint8_t)read(address, 1);
}

uint32_t arch_mmio_read32(uint64_t address)
{
	return read(address, 4);
}

void arch_mmio_write8(uint64_t address, uint8_t value)
{
	write(address, value, 1);
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	write(address, value, 4);
}

static void test_16550(uint32_t stride)
{
	const struct board_console console = { .uart = BOARD_UART_16550, .address = BASE, .stride = stride };
	const struct console_driver *driver = console_drivers[console.uart];

	width = stride;
	polls = 0;
	ready_after = 3;
	status = ROOM;
	driver->put(&console, 'x');
	CHECK_EQ(polls, 3);
	CHECK_EQ(written_at, BASE);
	CHECK_EQ(written, 'x');
	polls = 0;
	status = EMPTY;
	driver->leave(&console);
	CHECK_EQ(polls, 3);
	polls = 0;
	ready_after = BOUND; /* never */
	driver->put(&console, 'y');
	CHECK_EQ(written, 'y');
	driver->leave(&console);
}

int main(void)
{
	check_context.subject = "registers of a byte";
	test_16550(1);
	check_context.subject = "registers of a word";
	test_16550(4);
	return 0;
}
