/* SPDX-License-Identifier: Apache-2.0 */
/* VCPUs that commands make, each with one of the programs that are compiled in (programs.h). */
#pragma once

#include "kernel/core/command.h"

/* vcpu=BUDGET_US,PERIOD_US,PROGRAM: a VCPU of this core and a thread on it that runs the program */
void run_vcpu(const struct command_line *line);
/* vcpus: what each was promised and given */
void run_vcpus(const struct command_line *line);
