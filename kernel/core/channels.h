/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels to other sandboxes (abi/channel.h), by name: what the partition file grants (BH_GRANT_CHANNEL). An end belongs to one thread: to
 * a program that takes it, or else to commands, which the main program of the first core carries out.
 */
#pragma once
#include "abi/channel_inline.h"

/*
 * Takes this sandbox's end of the channel of that name, attached, for good, for the calling thread. Returns NULL if there is none, or none
 * that this kernel understands, or somebody has it. T
 */
struct bh_end *channel_take(const char *name);

/* Returns such an end that no program has taken, for the main program of the first core; NULL likewise. */
struct bh_end *channel_untaken(const char *name);

/* Returns the end that the grant gives, to look at, whoever has it; NULL: it gives none. */
const struct bh_end *channel_of(const struct bh_grant *grant);
