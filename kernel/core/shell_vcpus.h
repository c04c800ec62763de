/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that change VCPUs and programs while all others go on. In the main program. */
#pragma once

#include "kernel/core/command.h"

/* set=VCPU,BUDGET_US,PERIOD_US: other parameters for a Main VCPU; of several with the name, for the one with the lowest rank */
void run_set(const struct command_line *line);
/*
 * start=NAME, start=NAME,BUDGET_US,PERIOD_US: what was stopped or has ended under that name, on the VCPU it had; else a program on a VCPU
 * of its own, 1 ms of 100 ms, which has the program's name, or NAME-2 and so on where that is taken
 */
void run_start(const struct command_line *line);
/* stop=NAME: it runs no more; its VCPU stays */
void run_stop(const struct command_line *line);
