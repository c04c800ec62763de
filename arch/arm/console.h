/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up's boot console on ARM: a UART that firmware or a loader has set up, or that needs no set-up (QEMU). One driver a kind. */
#pragma once
#include "arch/board.h"

struct console_driver {
	/* Writes one character when there is room, or after a bound. */
	void (*put)(const struct board_console *console, char c);
	/* Waits, within a bound, until the last character has been sent, and leaves no interrupt pending that sending it has raised. */
	void (*leave)(const struct board_console *console);
};

/* By enum board_uart. Kinds that ARM has not are NULL. */
extern const struct console_driver *const console_drivers[];
