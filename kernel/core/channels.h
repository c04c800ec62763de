/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels to other sandboxes (abi/channel.h), by name: what the partition file grants (BH_GRANT_CHANNEL). An end belongs to one thread: to
 * a program that takes it, or else to commands, which the main program of the first core carries out.
 */
#pragma once
#include "abi/channel_inline.h"
#include "kernel/core/info.h"
#include "kernel/core/text.h"

/*
 * Takes this sandbox's end of the channel of that name, attached, for the calling thread, and opens it if it is opened on request. Of a
 * latest value with several readers each who takes it has one of its own. Returns NULL if there is none, or none that this kernel
 * understands, or all are taken. T
 */
struct bh_end *channel_take(const char *name);
/*
 * Gives back what channel_take has returned, and closes it if it is opened on request and nobody else has a reader of it: to touch it then
 * is a fault of the sandbox. T
 */
void channel_give(struct bh_end *end);
/*
 * Opens or closes one that is opened on request and that no program has taken. Returns BH_OK, also if it was so; BH_E_DENIED if there is
 * none; BH_E_UNKNOWN if this kernel does not understand what is there, or has no monitor. T
 */
int64_t channel_set_open(const char *name, bool open);
/* Returns which of the sandbox's channels it is, as the monitor counts them; how many there are, if it is none. */
static inline uint32_t channel_number(const char *name)
{
	uint32_t number = 0;

	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++) {
		if (info->grants[n].kind != BH_GRANT_CHANNEL)
			continue;
		if (text_equal((const char *)info->grants[n].name, name))
			break;
		number++;
	}
	return number;
}

/* Returns such an end that no program has taken, for the main program of the first core; NULL likewise, and if it is closed. */
struct bh_end *channel_untaken(const char *name);

/* Returns the end that the grant gives, to look at, whoever has it; NULL: it gives none, or it is closed. */
const struct bh_end *channel_of(const struct bh_grant *grant);
