/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the boot console's drivers on ARM, one for each `enum board_uart` of arch/board.h. A new UART is a row of `drivers`. */
#include "arch/arm/console.h"

#include "arch/arch.h"

enum { TX_TRIES = 1000000 };

/* PL011 (DDI 0183) 3.3 "Register descriptions". */
enum {
	UARTDR = 0x00,
	UARTFR = 0x18,
	UARTICR = 0x44,
	UARTFR_BUSY = 1 << 3,
	UARTFR_TXFF = 1 << 5,
	UARTICR_TXIC = 1 << 5,
};

static void pl011_wait(const struct board_console *console, uint32_t busy)
{
	for (int tries = 0; tries < TX_TRIES && arch_mmio_read32(console->address + UARTFR) & busy; tries++)
		arch_relax();
}

static void pl011_put(const struct board_console *console, char c)
{
	pl011_wait(console, UARTFR_TXFF);
	arch_mmio_write32(console->address + UARTDR, (uint8_t)c);
}

/* An empty transmitter has raised its interrupt, which its owner would find pending. */
static void pl011_leave(const struct board_console *console)
{
	pl011_wait(console, UARTFR_BUSY);
	arch_mmio_write32(console->address + UARTICR, UARTICR_TXIC);
}

static const struct console_driver pl011 = { pl011_put, pl011_leave };

/* 16550 registers by number: TI PC16550D data sheet, 8.0 "Registers"; those of a dw-apb are words, four bytes apart. */
enum { UART_THR = 0, UART_LSR = 5, LSR_THRE = 1 << 5, LSR_TEMT = 1 << 6 };

static void ns16550_wait(const struct board_console *console, uint32_t idle)
{
	uint64_t status = console->address + (uint64_t)UART_LSR * console->stride;

	for (int tries = 0; tries < TX_TRIES; tries++) {
		uint32_t found = console->stride == 4 ? arch_mmio_read32(status) : arch_mmio_read8(status);

		if (found & idle)
			return;
		arch_relax();
	}
}

static void ns16550_put(const struct board_console *console, char c)
{
	ns16550_wait(console, LSR_THRE);
	if (console->stride == 4)
		arch_mmio_write32(console->address + UART_THR, (uint8_t)c);
	else
		arch_mmio_write8(console->address + UART_THR, (uint8_t)c);
}

/* Its transmit interrupt is raised when its owner enables it, whatever was sent before. */
static void ns16550_leave(const struct board_console *console)
{
	ns16550_wait(console, LSR_TEMT);
}

static const struct console_driver ns16550 = { ns16550_put, ns16550_leave };

const struct console_driver *const console_drivers[] = {
	[BOARD_UART_PL011] = &pl011,
	[BOARD_UART_16550] = &ns16550,
	[BOARD_UART_16550_PORTS] = NULL,
};
