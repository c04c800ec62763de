/* SPDX-License-Identifier: Apache-2.0 */
/* The program of sandbox-kernel.elf: it adds nothing to the kernel's own commands. */
#include <stddef.h>

#include "kernel/core/command.h"

const struct command program_commands[] = { { NULL, 0, NULL } };

bool command_run_other(const char *name, const struct command_line *line)
{
	return false;
}
