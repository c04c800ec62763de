/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PC16550D Universal Asynchronous Receiver/Transmitter with FIFOs, 8.0 "Registers", and what has the same registers: ns16550.c. They are
 * reached by ports, ns16550_ports.c, or in memory, ns16550_memory.c, where the grant says how far apart they are, and how wide.
 */
#pragma once
#include "kernel/core/uart.h"

extern const struct uart_driver ns16550_ports, ns16550_memory;

/* How register `number` of a granted UART is reached. */
struct ns16550_bus {
	uint8_t (*read)(const struct bh_grant *grant, unsigned number);
	void (*write)(const struct bh_grant *grant, unsigned number, uint8_t value);
	bool is_pc; /* its clock is a PC's, so that the speed can be set; else it stays as firmware left it */
};

/* What a row of struct uart_driver has of it; the bus and the grant of `ns16550_init` stay in use. */
uint32_t ns16550_condition(const struct ns16550_bus *bus, const struct bh_grant *grant);
void ns16550_init(const struct ns16550_bus *bus, const struct bh_grant *grant);
bool ns16550_put(char c);
void ns16550_transmit_interrupt(bool on);
void ns16550_receive_interrupt(bool on);
bool ns16550_serve(void (*received)(char c));
