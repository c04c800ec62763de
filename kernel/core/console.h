/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the sandbox speaks: its log ring, its UART and its terminal (terminal.h), as far as it has them. Not to be called from interrupt
 * handlers: a UART waits for room.
 *
 * The room has a circle: whoever cannot go on (fault.c, irq.c) says so here, and a console whose UART interrupts attaches to irq.c and
 * sleeps in idle.c, which the heartbeat and the timer wake. And another: spaces (space.h) are made of memory's frames, which are mapped in
 * a space.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/guest.h"

#define CONSOLE_FORMAT __attribute__((format(printf, 1, 2)))

void console_init(void);

/* Writes one line "NAME: text" to every output. */
void console_say(const char *format, ...) CONSOLE_FORMAT;
/* The same, but not to a UART on which somebody is typing or dots are being counted. */
void console_report(const char *format, ...) CONSOLE_FORMAT;

/* Returns the sandbox's own log ring, or NULL. Its heartbeat fields belong to heartbeat.c. */
struct bh_log *console_log(void);

/* The interactive side: the UART, and the terminal. */
bool console_has_uart(void);
/* Whether it is the UART with this line. */
bool console_has_line(uint32_t line);

/* Returns the UART's condition (uart.h) when this kernel began; 0 without a UART. Noted for programs, as console_init changes it. */
uint32_t console_uart_found(void);
void console_echo(const char *format, ...) CONSOLE_FORMAT;
/* Takes the next character received. Returns false if there is none. */
bool console_get(char *c);
/* Returns whether there is input not yet read, for the main program. May be called with interrupts disabled. */
bool console_has_input(void);

/*
 * Input is `reader`'s, not the main program's, which has none meanwhile: it is told from the interrupt handler that characters have come,
 * and takes them with console_get. NULL: it is the main program's again.
 */
void console_redirect_input(void (*reader)(void));

/*
 * The UART may interrupt every `distance` ticks, and once more at any time. Beyond that, reception is masked at the device for as long;
 * what is sent meanwhile may be lost. 0: no limit.
 */
void console_limit(uint64_t distance);
/* How often the UART has interrupted, and how often it was masked. */
void console_count(uint64_t *interrupts, uint64_t *masked);

/*
 * Sends `count` dots, each from the interrupt handler that announces that there is room for it, and returns after as many
 * interrupts. false: no UART. It stands in the kernel because the UART and its handler are the console's.
 */
bool console_count_interrupts(uint64_t count);
