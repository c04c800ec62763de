/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about beginnings of a sandbox. They take part in the table of commands.c. */
#pragma once
#include "kernel/core/command.h"

/* restarted: how long it took to begin this one. */
void run_restarted(const struct command_line *line);
/* first=WORD: a command for the first life only. */
void run_first(const struct command_line *line);
/* watch=SANDBOX,US,N: kicks it N times, so many microseconds apart. */
void run_watch(const struct command_line *line);
