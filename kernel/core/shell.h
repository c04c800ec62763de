/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that show how this kernel stands: a line for each thing. All but `dmesg` say it as anything is said; in the main program. */
#pragma once

#include "kernel/core/command.h"

/* threads: name, VCPU, level and state, and what its VCPU has had */
void run_threads(const struct command_line *line);
/* irqs: what each number's handler has served, on all cores */
void run_irqs(const struct command_line *line);
/* exits: of all cores into their monitors, by reason, until this kernel was ready and since */
void run_exits(const struct command_line *line);
/* mem: the frames by owner, the page tables, the image */
void run_mem(const struct command_line *line);
/* dmesg, dmesg=N: the last lines that were said, to the UART alone */
void run_dmesg(const struct command_line *line);
void run_uptime(const struct command_line *line);
