/* SPDX-License-Identifier: Apache-2.0 */
/* A UART driver. Interrupts are masked at the device, never at the interrupt controller: that costs no exit. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/guest.h"

struct uart_driver {
	enum bh_grant_kind kind;       /* registers in memory, or ports */
	const char *const *compatible; /* names, ended by NULL */
	/* Returns what the UART's earlier user left. 16550: line control; PL011: raw interrupts. Requires: before `init`. */
	uint32_t (*condition)(const struct bh_grant *grant);
	/* 8N1, no FIFO (an interrupt a character), receive interrupt on, transmit interrupt off. */
	void (*init)(const struct bh_grant *grant);
	/* Sends one character. Returns false if there is no room. Requires: interrupts disabled, because the handler sends, too. */
	bool (*put)(char c);
	void (*transmit_interrupt)(bool on);
	void (*receive_interrupt)(bool on); /* what came meanwhile raises it when it is on again */
	/* Serves an interrupt: hands over what was received. Returns whether there is room to send. What is left raises it again. */
	bool (*serve)(void (*received)(char c));
};

/*
 * What a sandbox of this architecture may find: any UART whose registers it can reach; ended by NULL:
 * arch/<arch>/drivers.c. The first granted device that one of them knows is the console.
 */
extern const struct uart_driver *const uart_drivers[];
