/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate that the tool opens by writing to the log ring (struct bh_log). What waits for it has no deadlines of ours: a host that has other
 * work may leave a core without time for as long as it likes, and that proves nothing. How long the kernel waits for another core from then
 * on is smp_patience.
 */
#pragma once
#include "kernel/core/command.h"

/* gate: asleep until it is open, and all cores are on */
void run_gate(const struct command_line *line);
