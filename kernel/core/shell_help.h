/* SPDX-License-Identifier: Apache-2.0 */
/* What `help` says of the kernel's own commands. */
#pragma once

/* Returns what follows the name of a command of the kernel in its line of `help`; of any other "". */
const char *shell_help(const char *name);
