/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that move between two cores of the sandbox. */
#pragma once
#include "kernel/core/command.h"

/* moves=N: each of some threads goes to core 1 and back so often, by itself; and one that sleeps is sent there. Says what came of it. */
void run_moves(const struct command_line *line);
/* moves-away: on core 1, makes the VCPUs that they go to */
void run_moves_away(const struct command_line *line);
