/* SPDX-License-Identifier: Apache-2.0 */
/* What sweeps of both ARM architectures share: instructions made while it runs, and the calls below. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "probe/sweep.h"

/* The instruction that reads or writes a register, its value in the first general register or, of 64 bits on ARMv7, in two. */
struct register_space {
	uint32_t (*read)(uint64_t number);
	uint32_t (*write)(uint64_t number);
};

/* false: refused. */
bool register_is_readable(const struct register_space *space, uint64_t number);
/* Puts back what was read, or 0 where nothing can be. false: refused. */
bool register_is_writable(const struct register_space *space, uint64_t number);

/* Function identifiers, and those left out. Answered: neither firmware nor monitor says "unknown". */
extern const struct sweep_range call_numbers[];
extern const uint64_t calls_left_out[];
bool hvc_is_answered(uint64_t function);
bool smc_is_answered(uint64_t function);

/* ---- <arch>/sweeps.c ---- */

extern const uint32_t return_instruction;
/* Makes instructions written at [start, end) those that are fetched there. */
void publish_instructions(uint64_t start, uint64_t end);
uint64_t call_hvc(uint64_t function, uint64_t argument);
uint64_t call_smc(uint64_t function, uint64_t argument);
