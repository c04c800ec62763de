/* SPDX-License-Identifier: Apache-2.0 */
/* What others see of this sandbox on the pages of its channels (abi/channel.h), which its monitor alone writes: its state, and its life. */
#include "monitor.h"

/*
 * Who sees the state sees the epoch that it is of; and who sees the epoch of a new life sees that it takes part in no connection yet,
 * whatever the one before it has written there.
 */
HAL_OUTLINE void channels_tell(enum bh_channel_state state)
{
	for (const struct channel_end *end = monitor.ends; end < monitor.ends + monitor.end_count; end++) {
		if (state == BH_CHANNEL_LIVES)
			__atomic_store_n(end->peer, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&end->seen->epoch, monitor.stats->restarts + 1, __ATOMIC_RELEASE);
		__atomic_store_n(&end->seen->state, state, __ATOMIC_RELEASE);
	}
}
