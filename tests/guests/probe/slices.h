/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of one level that never wait, on a VCPU with a slice. */
#pragma once
#include "kernel/core/command.h"

/* slices=US: three of them for 60 ms. Says how often another one went on, and what share of the work each has done. */
void run_slices(const struct command_line *line);
