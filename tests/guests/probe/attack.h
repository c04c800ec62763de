/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hostile sandbox might try, by name, for cases. The campaign's attempts are classes, tools/bhtool/attack/classes_*.py. An attack is
 * one function that a test calls by name; it says what it is about to do, and afterwards, if there is an afterwards, whether it was refused
 * (by which exception) or returned (what).
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "kernel/core/command.h"

struct attack {
	const char *name; /* "rdmsr", or with its operand "mrs=pmcr" */
	unsigned operands;
	bool reaches; /* operand 0 is a physical address; attempt() gets a virtual one that leads there */
	uint64_t (*attempt)(uint64_t a, uint64_t b);
};

/*
 * What storm=KIND repeats without end and trips=KIND measures, without output: an exit each time, refused or not, or long instructions
 * one after the other. storm.c has the kinds that every architecture has.
 */
struct storm {
	const char *kind;
	uint64_t (*attempt)(uint64_t a, uint64_t b);
	uint64_t operand; /* attempt's a */
	/* Makes attempt's a and b beforehand; NULL: `operand` and 0. */
	void (*prepare)(uint64_t operands[2]);
};

/* attack.c, and <arch>/attacks.c; ended by a NULL name. */
extern const struct attack attacks[];
extern const struct attack arch_attacks[];
/* <arch>/attacks.c; ended by a NULL kind. */
extern const struct storm arch_storms[];
