/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that show channels and try them, on ends that no program has taken. In the main program; but for `channels`, of the first core.
 */
#pragma once
#include "kernel/core/command.h"

/* channels: what there is, with whom, and how it stands */
void run_channels(const struct command_line *line);
/* send=NAME,TEXT: one message */
void run_send(const struct command_line *line);
/* receive=NAME: the next message, or the latest value */
void run_receive(const struct command_line *line);
/* open=NAME, close=NAME: one that is opened on request; reopen=NAME,N: both so often */
void run_open(const struct command_line *line);
void run_close(const struct command_line *line);
void run_reopen(const struct command_line *line);
/* ring=NAME: the other end's doorbell, once */
void run_ring(const struct command_line *line);
/* rung=NAME: how often this end's has rung */
void run_rung(const struct command_line *line);
