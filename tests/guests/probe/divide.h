/* SPDX-License-Identifier: Apache-2.0 */
/* Division of 64 bits, which on ARMv7 is a routine of ours (arch/arm/armv7/divide_boot.S). */
#pragma once
#include "kernel/core/command.h"

/* divide=N: values at the edges by one another, and N of any widths. Says how many were right. */
void run_divide(const struct command_line *line);
