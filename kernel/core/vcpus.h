/* SPDX-License-Identifier: Apache-2.0 */
/* VCPUs that the partition file asks for, and that commands make, each with one of the programs that are compiled in (programs.h). */
#pragma once

#include "kernel/core/command.h"

/* Makes the VCPUs of the information page (BH_GRANT_VCPU), and says of each that cannot be made why. In the main program, once. */
void vcpus_start(void);

/* vcpu=BUDGET_US,PERIOD_US,PROGRAM: a VCPU of this core and a thread on it that runs the program */
void run_vcpu(const struct command_line *line);
/* vcpus: what each was promised and given */
void run_vcpus(const struct command_line *line);
