/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What doorbells cost, between two sandboxes that run this command, as channels.h has it. Who rings says what its call takes. Then it
 * sleeps at once, and who is rung says what it takes itself from that moment on until it has heard.
 */
#pragma once
#include "kernel/core/command.h"

/* bench-bells */
void run_bench_bells(const struct command_line *line);
