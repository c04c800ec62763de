/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands: words separated by blanks, from the sandbox's `bootargs` and from its UART, run one after the other in the main
 * program while the heartbeat goes on.   word = NAME [ "=" operand { "," operand } ]
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { COMMAND_OPERANDS = 3, COMMAND_WORD_BYTES = 80 };

struct command_line {
	const char *text;                   /* after the "=", or "" */
	uint64_t operand[COMMAND_OPERANDS]; /* as numbers; 0 where there is none */
	unsigned operands;                  /* how many are numbers */
};

struct command {
	const char *name;
	unsigned operands; /* numbers it needs at least */
	void (*run)(const struct command_line *line);
};

/* ---- Of the program that is linked with the kernel, whose commands win over the kernel's own ------------------------ */

/* Its commands; ended by a NULL name. */
extern const struct command program_commands[];
/*
 * Runs what `program_commands` does not have, or not with so few operands. Returns false if there is no such thing, or operands are
 * missing.
 */
bool command_run_other(const char *name, const struct command_line *line);

/* ---- Of the kernel ------------------------------------------------------------------------------------------------- */

/* What every program has: commands.c. Ended by a NULL name. */
extern const struct command kernel_commands[];

void command_run_arguments(const char *arguments);

/* Feeds what was typed to the line editor; runs a line when it is complete. */
void command_read_input(void);
