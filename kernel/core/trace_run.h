/* SPDX-License-Identifier: Apache-2.0 */
/* The command that switches tracing (trace.h). */
#pragma once

#include "kernel/core/command.h"

/*
 * trace=on, trace=BYTES: from now on, with rings of so many bytes a core, which stay; trace=off. Refused off the first core, and for rings
 * that would take more than half of the free frames.
 */
void run_trace(const struct command_line *line);
