/* SPDX-License-Identifier: Apache-2.0 */
/* What the first core and another one of the sandbox do to each other, by way of address spaces that both translate by. */
#pragma once
#include "kernel/core/command.h"

/*
 * start-away=CORE: the other core is started while this one translates by another space than the kernel's; it then reads an
 * address that only kernel_space maps.
 */
void run_start_away(const struct command_line *line);
/* unmap-beside=CORE: unmaps that page of kernel_space, first with the other core on, then with it off, and maps it again */
void run_unmap_beside(const struct command_line *line);
/* unmap-left=CORE: unmaps that page while the other core has left kernel_space and is still on, and what that one reads before and after */
void run_unmap_left(const struct command_line *line);
/* leave: on the other core */
void run_leave(const struct command_line *line);
/* attempts=CORE: both make an attempt at once, and the other core's, which begins later, faults first */
void run_attempts(const struct command_line *line);
/* attempt-within: the other core's */
void run_attempt_within(const struct command_line *line);
/* look: on the other core, what it reads there */
void run_look(const struct command_line *line);
