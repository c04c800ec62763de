/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/*
 * What both ends in Linux do, the module's (module/end.c) and that of a program without it (lib/memory.c): an operation of
 * abi/channel_inline.h is tried once, and what it returns becomes an errno. Nothing here waits, or copies between kernel and program.
 *
 *   AGAIN   -EAGAIN      nothing to read, no room, or the other end does not take part yet
 *   NEW     -ECONNRESET  once, but for the first connection after it was opened: nothing was under way then, so -EAGAIN
 *   GONE    -EPIPE
 *   BROKEN  -EPROTO
 *   SIZE    -EMSGSIZE
 *   CHECK   -EBADMSG
 *   INVALID -EINVAL
 *
 * All functions require an end that is the caller's for that time, as those of channel_inline.h do: in the module, with the file's lock.
 */
#pragma once
#include <linux/errno.h>

#include "channel_inline.h"
#include "bulkhead.h"

/* What a program knows of its end's connections. */
struct try_news {
	bool fresh; /* no connection has begun since it was opened: the first one loses nothing */
	bool reset; /* another one has begun, and the program was not told yet */
};

/* Returns 0 or -errno, by the table above. */
static inline int try_error(struct try_news *news, enum bh_end_result result)
{
	switch (result) {
	case BH_END_OK:
		return 0;
	case BH_END_AGAIN:
		return -EAGAIN;
	case BH_END_NEW:
		if (!news->fresh)
			return -ECONNRESET;
		news->fresh = false;
		return -EAGAIN;
	case BH_END_GONE:
		return -EPIPE;
	case BH_END_BROKEN:
		return -EPROTO;
	case BH_END_SIZE:
		return -EMSGSIZE;
	case BH_END_CHECK:
		return -EBADMSG;
	case BH_END_INVALID:
		break;
	}
	return -EINVAL;
}

/* Takes part in a new connection, if there is one. Returns whether one has begun that no program was told of, and is to be. */
static inline bool try_was_reset(struct bh_end *end, struct try_news *news)
{
	if (try_error(news, bh_end_look(end)) == -ECONNRESET)
		news->reset = true;
	return news->reset;
}

/* The same, and tells of it: comes before each message. Returns 0, or -ECONNRESET once. */
static inline int try_tell_reset(struct bh_end *end, struct try_news *news)
{
	if (!try_was_reset(end, news))
		return 0;
	news->reset = false;
	return -ECONNRESET;
}

/* ---- Receiving ----------------------------------------------------------------------------------------------------------------------- */

/*
 * RING: shows the oldest message in place. After BH_END_OK the caller copies it, and then releases it (bh_ring_release).
 * Returns as bh_ring_peek; a damaged message is released: BH_END_CHECK. BH_END_SIZE if it is longer than `room`: `*message` says how long,
 * and it stays.
 */
static inline enum bh_end_result try_show(struct bh_end *end, size_t room, struct bh_message *message)
{
	const enum bh_end_result result = bh_ring_peek(end, message);

	if (result == BH_END_OK && message->length > room)
		return BH_END_SIZE;
	if (result == BH_END_CHECK)
		(void)bh_ring_release(end);
	return result;
}

/* LATEST: as bh_latest_read, but BH_END_AGAIN if it is the value that was read before, unless that is wanted, `again`. */
static inline enum bh_end_result try_latest(struct bh_end *end, void *buffer, uint32_t capacity, bool again, struct bh_message *message)
{
	const bool started = end->started;
	const uint32_t known = end->taken;
	const enum bh_end_result result = bh_latest_read(end, buffer, capacity, message);

	return result == BH_END_OK && started && end->taken == known && !again ? BH_END_AGAIN : result;
}

/* ---- Sending ------------------------------------------------------------------------------------------------------------------------- */

/* Whether any end could send such a message by this channel. Returns BH_END_OK, BH_END_INVALID (unknown flags), BH_END_SIZE. */
static inline enum bh_end_result try_fits(const struct bh_end *end, size_t length, uint32_t flags)
{
	if (!bh_flags_valid(flags))
		return BH_END_INVALID;
	return length > end->slot_bytes ? BH_END_SIZE : BH_END_OK;
}

/* MAILBOX and LATEST, which copy what they send. A latest value has no flags of the program's. Returns as their functions. */
static inline enum bh_end_result try_send_copy(struct bh_end *end, const void *data, uint32_t length, uint32_t flags)
{
	return end->role == BH_END_MAILBOX ? bh_mailbox_send(end, data, length, flags) : bh_latest_write(end, data, length);
}

/* ---- What would not have to wait ----------------------------------------------------------------------------------------------------- */

/* Returns BH_END_OK if there is something to receive; BH_END_INVALID if this end receives nothing; else why there is nothing. */
static inline enum bh_end_result try_may_receive(struct bh_end *end)
{
	enum bh_end_result result;
	uint32_t sent;

	switch (end->role) {
	case BH_END_RING_READER:
	case BH_END_MAILBOX:
		return bh_end_waiting(end);
	case BH_END_LATEST_READER:
		result = bh_end_look(end);
		if (result != BH_END_OK)
			return result;
		/* Its value may be of a write that has not ended, which `sent` does not count yet. */
		sent = __atomic_load_n(&end->peer->sent, __ATOMIC_RELAXED);
		if (end->started ? sent != end->taken && sent + 1 != end->taken : sent != 0)
			return BH_END_OK;
		return bh_end_peer_gone(end) ? BH_END_GONE : BH_END_AGAIN;
	default:
		return BH_END_INVALID;
	}
}

/* Returns BH_END_OK if a message can be sent; BH_END_INVALID if this end sends nothing; else why none can be. */
static inline enum bh_end_result try_may_send(struct bh_end *end)
{
	enum bh_end_result result;
	void *slot;

	switch (end->role) {
	case BH_END_RING_SENDER:
		return bh_ring_reserve(end, &slot);
	case BH_END_LATEST_WRITER:
		result = bh_end_look(end);
		return result == BH_END_OK && bh_end_peer_gone(end) ? BH_END_GONE : result;
	case BH_END_MAILBOX:
		result = bh_end_look(end);
		if (result == BH_END_OK && bh_end_peer_gone(end))
			return BH_END_GONE;
		if (result == BH_END_OK)
			result = bh_end_read_taken(end);
		if (result == BH_END_OK)
			result = bh_end_read_sent(end);
		return result == BH_END_OK && (end->peer_taken != end->sent || end->peer_sent != end->taken) ? BH_END_AGAIN : result;
	default:
		return BH_END_INVALID;
	}
}

/* POLLERR and POLLHUP, as <poll.h> has them and as the kernel has EPOLLERR and EPOLLHUP. */
enum { TRY_POLLERR = 0x8, TRY_POLLHUP = 0x10 };

static inline uint32_t try_ready_for(enum bh_end_result result, uint32_t open)
{
	switch (result) {
	case BH_END_OK:
		return open;
	case BH_END_GONE:
		return open | TRY_POLLHUP;
	case BH_END_BROKEN:
		return open | TRY_POLLERR;
	default:
		return 0;
	}
}

/* Events of poll(2), as they are now. `in`, `out`: those that say that receiving, sending would not wait. */
static inline uint32_t try_ready(struct bh_end *end, struct try_news *news, uint32_t in, uint32_t out)
{
	enum bh_end_result receives, sends;

	if (!try_was_reset(end, news)) {
		receives = try_may_receive(end);
		sends = try_may_send(end);
		/* Begun after that look: who asks next is to be told, as it is not said again. */
		if (receives != BH_END_NEW && sends != BH_END_NEW)
			return try_ready_for(receives, in) | try_ready_for(sends, out);
		if (try_error(news, BH_END_NEW) != -ECONNRESET)
			return 0;
		news->reset = true;
	}
	return TRY_POLLERR | in | out;
}

/* ---- What is watched ----------------------------------------------------------------------------------------------------------------- */

/* Of the shared memory, what changes when an operation that had to wait need not wait any more. */
enum { CHANNEL_WORDS = 10 };
struct channel_words {
	uint32_t word[CHANNEL_WORDS];
};

/* Says where these words lie. Requires: the end is attached. How they are loaded is the caller's. */
static inline void try_find_words(const struct bh_end *end, const uint32_t *watched[CHANNEL_WORDS])
{
	const uint32_t *const found[CHANNEL_WORDS] = {
		&end->own_life->epoch, &end->peer_life->epoch, &end->peer_life->state, &end->peer->epoch, &end->peer->peer,
		&end->peer->sent,      &end->peer->taken,      &end->peer->latest,     &end->own->sent,   &end->own->taken,
	};

	for (unsigned n = 0; n < CHANNEL_WORDS; n++)
		watched[n] = found[n];
}

/* ---- The rest ------------------------------------------------------------------------------------------------------------------------ */

/* As in struct bulkhead_info. */
static inline uint32_t try_kind_of(enum bh_end_role role)
{
	if (role == BH_END_MAILBOX)
		return BULKHEAD_MAILBOX;
	return role == BH_END_RING_SENDER || role == BH_END_RING_READER ? BULKHEAD_RING : BULKHEAD_LATEST;
}
