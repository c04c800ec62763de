/* SPDX-License-Identifier: Apache-2.0 */
/* What others see of this sandbox on the pages of its channels (abi/channel.h), which its monitor alone writes: its state, and its life. */
#include "monitor/tell.h"

HAL_OUTLINE void channels_tell(enum bh_channel_state state)
{
	for (const struct channel_end *end = monitor.ends; end < monitor.ends + monitor.end_count; end++)
		channel_tell(end, state, monitor.stats->restarts + 1);
}
