/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about ends and beginnings of a sandbox. They take part in the table of commands.c. */
#pragma once
#include "kernel/core/command.h"

/* life: which one this is, the first is 0. */
void run_life(const struct command_line *line);
/* restarted: how long it took to begin this one. */
void run_restarted(const struct command_line *line);
/* first=WORD: a command for the first life only. */
void run_first(const struct command_line *line);
/* crash, crash=N: touches what is not granted; N: in the first N lives only. */
void run_crash(const struct command_line *line);
/* reboot, reboot=N: asks the monitor to begin again; N likewise. */
void run_reboot(const struct command_line *line);
/* watch=SANDBOX,US,N: kicks it N times, so many microseconds apart. */
void run_watch(const struct command_line *line);
