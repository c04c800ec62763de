/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a ring sent back by another one, as they are. */
#pragma once
#include "kernel/core/command.h"

/* echo=NAME: what comes by the channel NAME goes back by NAME-back, until the other end is gone for good */
void run_echo(const struct command_line *line);
