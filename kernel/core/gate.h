/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate that the tool opens by writing to the log ring. What waits for it has no deadlines of ours: a host that has other work may
 * leave a core without time for as long as it likes, and that proves nothing.
 */
#pragma once
#include <stdint.h>

#include "kernel/core/command.h"

/* gate: asleep until it is open, and all cores are on */
void run_gate(const struct command_line *line);

/* Ticks of the counter to wait for another core: `ns`, or what the open gate says. */
uint64_t gate_patience(uint64_t ns);
