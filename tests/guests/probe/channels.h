/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What channels cost, between two sandboxes that run this command, at the two ends of each of their channels (bench/channel.dts.j2). One
 * acts while the other sleeps, in turns by the clock, so that an interval from one read of the counter to the next has the instructions of
 * that end alone. Each says what it has measured.
 */
#pragma once
#include "kernel/core/command.h"

/* bench-channels */
void run_bench_channels(const struct command_line *line);
