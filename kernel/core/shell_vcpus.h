/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that change VCPUs and programs while all others go on. In the main program. */
#pragma once

#include "kernel/core/command.h"

/* set=VCPU,BUDGET_US,PERIOD_US: other parameters for a Main VCPU; of several with the name, for the one with the lowest rank */
void run_set(const struct command_line *line);
/* start=PROGRAM, start=PROGRAM,BUDGET_US,PERIOD_US: a program on a VCPU of its own; one that was stopped or has ended, on the one it had */
void run_start(const struct command_line *line);
/* stop=PROGRAM: it runs no more; its VCPU stays */
void run_stop(const struct command_line *line);
