/* SPDX-License-Identifier: Apache-2.0 */
/* What a monitor says of its sandbox on a channel's page, in the order in which others may see it (abi/channel.h). */
#pragma once
#include "monitor/monitor.h"

/*
 * Who sees a new life's epoch sees that it takes part in no connection yet, whatever the one before it has left there (BH-D1103); and who
 * sees that it lives sees its epoch. An end is no new life: its epoch stays. Requires: for LIVES, nothing of the sandbox runs, or one of
 * its cores opens the channel; another core that writes there at that moment spoils its own sandbox's connection and nobody else's.
 */
static inline void channel_tell(const struct channel_end *end, enum bh_channel_state state)
{
	if (state == BH_CHANNEL_LIVES) {
		__atomic_store_n(end->peer, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&end->seen->epoch, end->seen->epoch + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&end->seen->state, state, __ATOMIC_RELEASE);
}
