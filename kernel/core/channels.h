/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels to other sandboxes (abi/channel.h), by name: what the partition file grants (BH_GRANT_CHANNEL), and commands that try them. An
 * end belongs to one thread: to a program that takes it, or else to commands, which the main program of the first core carries out.
 */
#pragma once
#include "abi/channel_inline.h"
#include "kernel/core/command.h"

/*
 * Takes this sandbox's end of the channel of that name, attached, for good, for the calling thread. Returns NULL if there is none, or none
 * that this kernel understands, or somebody has it. T
 */
struct bh_end *channel_take(const char *name);

/* channels: what there is, with whom, and how it stands */
void run_channels(const struct command_line *line);
/* send=NAME,TEXT: one message */
void run_send(const struct command_line *line);
/* receive=NAME: the next message, or the latest value */
void run_receive(const struct command_line *line);
