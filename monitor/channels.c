/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What others see of this sandbox on the pages of its channels (abi/channel.h), which its monitor alone writes: its state, and its life.
 * And which of the channels that it opens itself it reaches: BH-D1116.
 */
#include "monitor/tell.h"

/*
 * What has a gate is mapped before it is told that it lives. Cores of the sandbox that open and close at once leave one of both, here and
 * on the page, perhaps not the same: each is theirs to choose.
 */
HAL_OUTLINE static void turn(struct hal_core *core, const struct channel_end *end, enum bh_channel_state to)
{
	if (hal_gate_exists(&end->gate))
		hal_gate_turn(core, &end->gate, to == BH_CHANNEL_LIVES);
	channel_tell(end, to);
}

/* A life finds closed what it opens itself; what is gone is gone. */
_Static_assert((BH_CHANNEL_LIVES | BH_CHANNEL_GONE) == BH_CHANNEL_CLOSED, "what a gate makes of a life");

HAL_OUTLINE void channels_tell(struct hal_core *core, enum bh_channel_state state)
{
	for (const struct channel_end *end = monitor.ends; end < monitor.ends + monitor.end_count; end++)
		turn(core, end, state | (hal_gate_exists(&end->gate) ? BH_CHANNEL_GONE : 0));
}

int64_t channels_turn(struct hal_core *core, uint64_t n, bool open)
{
	const struct channel_end *end;

	if (n >= BH_MAX_CHANNELS)
		return BH_E_DENIED;
	end = &monitor.ends[n];
	if (!hal_gate_exists(&end->gate))
		return BH_E_DENIED;
	turn(core, end, open ? BH_CHANNEL_LIVES : BH_CHANNEL_CLOSED);
	return BH_OK;
}
