// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * The channel's memory, while somebody has a use for it: the device itself, always, or of a channel that is opened on request (abi/guest.h,
 * BH_CALL_OPEN) whoever has its file open. Before and after an access would be a fault, which ends the whole sandbox. So this module has no
 * address of it then: a mistake would be a fault of Linux alone.
 *
 *   the first comes    the monitor opens it, it is mapped, `first` is attached
 *   the last one goes  the timer that looks stops, all ends are detached, it is mapped no more, the monitor closes it
 *
 * A mapping of a program has its file open until its pages are gone from all cores (mm/mmap.c: a file is put after its area was unmapped),
 * also of a child, and behind a close of the file. What cores still know of this module's own mapping, until Linux has them forget it,
 * nobody uses; and a processor that looks ahead there finds what stage 2 lets it find, without a fault.
 *
 * The call is for the whole sandbox, whichever core makes it. docs/decisions/channels.md, BH-D1119.
 */
#include <linux/errno.h>
#include <linux/io.h>

#include "device.h"

static bool is_as_said(const struct channel *channel, const struct bh_end *end)
{
	const struct channel_shape *said = &channel->shape;

	return end->role == said->role && end->slots == said->slots && end->slot_bytes == said->slot_bytes;
}

static int attach_first(struct channel *channel)
{
	struct bh_end end;

	if (bh_end_attach(&end, channel->memory, channel->bytes, channel->page_offset, channel->side) != BH_END_OK ||
	    (channel->on_request && !is_as_said(channel, &end))) {
		dev_err_ratelimited(channel->dev, "`%s` at %pa is not a channel of version %u, or another one than it is said to be\n",
				    channel->name, &channel->start, BH_CHANNEL_VERSION);
		return -EINVAL;
	}
	channel->first = end;
	return 0;
}

static void leave(struct channel *channel)
{
	unsigned int n;

	channel_watch_end(channel);
	channel->first = (struct bh_end){};
	for (n = 0; n < CHANNEL_FILES; n++)
		channel->files[n].end = (struct bh_end){};
	if (channel->memory)
		memunmap(channel->memory);
	channel->memory = NULL;
	if (channel->on_request)
		(void)channel_call(BH_CALL_CLOSE, channel->number); /* a monitor that has opened it closes it */
}

static int reach(struct channel *channel)
{
	int error;

	if (channel->on_request && channel_call(BH_CALL_OPEN, channel->number) != BH_OK)
		return -EACCES;
	/* Normal write-back memory, as the other end has it. */
	channel->memory = memremap(channel->start, channel->bytes, MEMREMAP_WB);
	error = channel->memory ? attach_first(channel) : -ENOMEM;
	if (error)
		leave(channel);
	return error;
}

int channel_hold(struct channel *channel)
{
	int error = 0;

	mutex_lock(&channel->holding);
	if (!channel->holders)
		error = reach(channel);
	if (!error)
		channel->holders++;
	mutex_unlock(&channel->holding);
	return error;
}

void channel_let_go(struct channel *channel)
{
	mutex_lock(&channel->holding);
	if (!--channel->holders)
		leave(channel);
	mutex_unlock(&channel->holding);
}
