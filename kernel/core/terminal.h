/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal in another sandbox: two rings of this sandbox's channels (BH_CHANNEL_TERMINAL), one in which its console writes, and one from
 * which it reads. Never waits: what finds no room, or nobody at the other end, is dropped, as the log has it, too. As soon as there is room
 * again it says how many lines were dropped, and shows how the one that is not over began, such as a prompt. The doorbells of both channels
 * are used as they are granted; without one, the input is looked at whenever the first core wakes.
 */
#pragma once
#include <stdbool.h>

/* Takes both channels, if there are such. Requires: memory_init; the first core, once. */
void terminal_init(void);

/* Whether there is one to write to. */
bool terminal_exists(void);

/*
 * Begins a line. Returns whether there is room, and somebody who takes part; if not, or without a terminal, the line is lost as a whole,
 * and counted where somebody is: it need not be written.
 */
bool terminal_begins_line(void);

/* Writes a character. It is seen after a line's end, after a slot's, or after terminal_flush. */
void terminal_put(char c);
void terminal_flush(void);

/* Hands all that was typed to `received`, after it has done what waited for room or for the first core. Requires: that core. */
void terminal_read(void (*received)(char c));
