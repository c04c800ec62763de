/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a sandbox uses its end of a channel (channel.h): C11 without a library (at -O0 compilers call memcpy), for kernels, programs and
 * Linux modules. docs/channels.md.
 *
 *   kind      end 0                                  end 1
 *   RING      reserve, fill, commit, ..., publish    peek, use, release      in place
 *   MAILBOX   send, receive                          send, receive           one copy at each end
 *   LATEST    write                                  read                    one copy at each end; neither waits for the other
 *
 * Nothing here locks, waits or loops without a bound: an end belongs to one thread, or to whoever holds its lock.
 *
 * The other end may write anything into its area at any time. So each word of it is read once, checked, and used from a private copy (what
 * only decides that things are not as usual is read anew by who looks into it); what an end needs of its own words it keeps privately. Data
 * that is used in place (bh_ring_peek) may change while it is used.
 *
 * One rule keeps connections apart: what was read of the other's counters counts only if the page names the same life of the other end
 * afterwards; this end's own is not over while it runs. The other's next life clears its counters only after its monitor has written a new
 * epoch to the page, and writes no slot before this end has taken part in the new connection. Its monitor clears `peer` of its control
 * before it writes the epoch, with release: no life can speak for the next one. What this end counts itself needs no such look
 * (bh_ring_count).
 */
#pragma once
#include "channel_end.h"

/* ---- RING ---------------------------------------------------------------------------------------------------------------------------- */

static inline bool bh_ring_is_full(const struct bh_end *end)
{
	return end->written == end->full_at;
}

/* Whether there is a slot to fill, by all that can be asked. Returns as bh_ring_reserve. */
static inline enum bh_end_result bh_ring_find_room(struct bh_end *end)
{
	enum bh_end_result result = BH_END_OK;

	if (end->role != BH_END_RING_SENDER)
		return BH_END_INVALID;
	if (!end->connected)
		result = bh_end_look(end);
	if (result == BH_END_OK)
		result = bh_ring_is_full(end) ? bh_end_read_taken(end) : bh_end_look(end);
	if (result != BH_END_OK)
		return result;
	if (bh_end_peer_gone(end))
		return BH_END_GONE;
	return bh_ring_is_full(end) ? BH_END_AGAIN : BH_END_OK;
}

static inline void bh_ring_take_slot(struct bh_end *end, uint8_t *slots, uint32_t written, uint32_t mask, uint32_t stride, void **data)
{
	struct bh_channel_slot *slot = (struct bh_channel_slot *)(slots + (size_t)(written & mask) * stride);

	end->reserved = slot;
	*data = bh_slot_data(slot);
}

/* bh_ring_reserve, whatever is the matter. */
static __attribute__((__cold__, __noinline__, __unused__)) enum bh_end_result bh_ring_reserve_slowly(struct bh_end *end, void **data)
{
	const enum bh_end_result result = bh_ring_find_room(end);

	if (result == BH_END_OK)
		bh_ring_take_slot(end, end->own_slots, end->written, end->mask, end->stride, data);
	return result;
}

/* bh_ring_reserve, as it usually goes. Returns false if something is not as usual; then nothing has happened. */
static inline bool bh_ring_reserve_usual(struct bh_end *end, void **data)
{
	const struct bh_channel_end *life = end->sends_to;
	uint8_t *slots = end->own_slots;
	const uint32_t full_at = end->full_at, expected = end->expected;
	const uint32_t written = end->written, mask = end->mask, stride = end->stride;
	bool unusual;

	/* The other end lives as it did, and there is room. */
	unusual = written == full_at; /* bh_ring_is_full */
	unusual |= __atomic_load_n(&life->epoch, __ATOMIC_RELAXED) != expected;
	unusual |= __atomic_load_n(&life->state, __ATOMIC_RELAXED) == BH_CHANNEL_GONE;
	if (BH_ONE_BRANCH(unusual))
		return false;
	bh_ring_take_slot(end, slots, written, mask, stride, data);
	return true;
}

/*
 * Gives the caller the next free slot, to fill `*data` with at most slot_bytes. The same one again, until it is committed.
 * Returns BH_END_OK; BH_END_AGAIN if all slots are full, which those count to that were not published; BH_END_NEW, BH_END_GONE,
 * BH_END_BROKEN, BH_END_INVALID.
 */
static inline enum bh_end_result bh_ring_reserve(struct bh_end *end, void **data)
{
	enum bh_end_result result;
	void *slot;

	if (bh_ring_reserve_usual(end, data))
		return BH_END_OK;
	result = bh_ring_reserve_slowly(end, &slot); /* not `data`: what has no address stays in registers */
	if (result == BH_END_OK)
		*data = slot;
	return result;
}

/*
 * Closes the reserved slot as a message of `length` bytes. The other end sees it after bh_ring_publish. `flags`: BH_CHANNEL_START,
 * BH_CHANNEL_END. Needs no look at the connection: it touches an own slot that nobody reads.
 * Returns BH_END_OK; BH_END_SIZE if it is longer than a slot; BH_END_INVALID for other flags, and if no slot is reserved, as after
 * BH_END_NEW.
 */
static inline enum bh_end_result bh_ring_commit(struct bh_end *end, uint32_t length, uint32_t flags)
{
	struct bh_channel_slot *slot = end->reserved;
	const uint32_t number = end->written;

	if (!slot || !bh_flags_valid(flags))
		return BH_END_INVALID;
	if (__builtin_expect(length >= end->plain_end, 0)) {
		if (length > end->slot_bytes)
			return BH_END_SIZE;
		bh_slot_close(end, slot, number, length, flags);
	} else {
		bh_slot_write(slot, number, length, flags);
	}
	end->reserved = NULL;
	end->written = number + 1;
	return BH_END_OK;
}

/*
 * Stores `sent` or `taken` of an end that is connected, or was when it reserved its slot or saw its message. It does not look at the page:
 * the store may come late, after the other end has begun a new life, and is not taken for one of the new connection. The new life reads no
 * counter of this end until `peer` of this control names it, read with acquire. This end names it in bh_end_begin alone, with release,
 * after it has cleared its counters, and stores no counter of the old connection after that. If it is this end's own life that ends, its
 * last store comes before its monitor clears `peer` and writes the next epoch. tests/proof/channel_ring.pml takes either premise away.
 */
static inline void bh_ring_count(uint32_t *own_counter, uint32_t count)
{
	__atomic_store_n(own_counter, count, __ATOMIC_RELEASE);
}

/*
 * Lets the other end see all that was committed. BH_END_OK says no more than that: if the connection has ended, it is lost with it, and the
 * next call of bh_ring_reserve says BH_END_NEW.
 * Returns BH_END_OK; if this end is not connected BH_END_NEW, BH_END_AGAIN, BH_END_GONE, BH_END_BROKEN; BH_END_INVALID.
 */
static inline enum bh_end_result bh_ring_publish(struct bh_end *end)
{
	enum bh_end_result result;

	if (end->role != BH_END_RING_SENDER)
		return BH_END_INVALID;
	if (!end->connected) {
		result = bh_end_look(end);
		if (result != BH_END_OK)
			return result;
	}
	end->sent = end->written;
	bh_ring_count(end->own_counter, end->sent);
	return BH_END_OK;
}

/* bh_ring_send, whatever is the matter. */
static __attribute__((__cold__, __noinline__, __unused__)) enum bh_end_result bh_ring_send_slowly(struct bh_end *end, uint32_t length,
												  uint32_t flags)
{
	uint32_t *counter = end->own_counter;
	const enum bh_end_result result = bh_ring_commit(end, length, flags);

	if (result != BH_END_OK)
		return result;
	end->sent = end->written;
	bh_ring_count(counter, end->sent);
	return BH_END_OK;
}

/* bh_ring_send, as it usually goes. Returns false if something is not as usual; then nothing has happened. */
static inline bool bh_ring_send_usual(struct bh_end *end, uint32_t length, uint32_t flags)
{
	struct bh_channel_slot *slot = end->reserved;
	uint32_t *counter = end->own_counter;
	const uint32_t number = end->written, next = number + 1;

	if (BH_ONE_BRANCH(!slot | !bh_flags_valid(flags) | (length >= end->plain_end)))
		return false;
	bh_slot_write(slot, number, length, flags);
	end->reserved = NULL;
	end->written = next;
	end->sent = next;
	bh_ring_count(counter, next);
	return true;
}

/* Commits and publishes. Returns as bh_ring_commit. */
static inline enum bh_end_result bh_ring_send(struct bh_end *end, uint32_t length, uint32_t flags)
{
	return bh_ring_send_usual(end, length, flags) ? BH_END_OK : bh_ring_send_slowly(end, length, flags);
}

/* Whether there is a message, by all that can be asked. Returns as bh_ring_peek. */
static inline __attribute__((cold)) enum bh_end_result bh_ring_find_message(struct bh_end *end)
{
	return end->role == BH_END_RING_READER ? bh_end_waiting(end) : BH_END_INVALID;
}

/* `found` is the message before number `next`, of those up to `sent`. */
static inline void bh_ring_show(struct bh_end *end, uint32_t next, uint32_t sent, const struct bh_message *found,
				struct bh_message *message)
{
	end->peer_sent = sent;
	end->shown = next;
	*message = *found;
}

/* Judges what was read of a slot. Returns BH_END_OK, BH_END_CHECK; else as bh_end_refuse. */
static inline enum bh_end_result bh_ring_judge(struct bh_end *end, const struct bh_channel_slot *slot, const struct bh_message *found)
{
	if (!bh_message_valid(end, found) || found->number != end->taken)
		return bh_end_refuse(end, BH_END_BROKEN);
	return bh_message_damaged(end, slot, found) ? bh_end_refuse(end, BH_END_CHECK) : BH_END_OK;
}

/* Shows a message that is there. Returns as bh_ring_judge. */
static __attribute__((__cold__, __noinline__, __unused__)) enum bh_end_result bh_ring_show_judged(struct bh_end *end,
												  struct bh_message *message)
{
	const struct bh_channel_slot *slot = bh_peer_slot(end, end->taken & end->mask);
	struct bh_message found = { .data = slot + 1 };
	enum bh_end_result result;

	bh_slot_read(slot, &found);
	result = bh_ring_judge(end, slot, &found);
	if (result == BH_END_OK || result == BH_END_CHECK)
		bh_ring_show(end, end->taken + 1, end->peer_sent, &found, message);
	return result;
}

/* bh_ring_peek, whatever is the matter. */
static inline enum bh_end_result bh_ring_peek_slowly(struct bh_end *end, struct bh_message *message)
{
	const enum bh_end_result result = bh_ring_find_message(end);

	return result == BH_END_OK ? bh_ring_show_judged(end, message) : result;
}

/* bh_ring_peek, as it usually goes. Returns false if something is not as usual; then nothing has happened. */
static inline bool bh_ring_peek_usual(struct bh_end *end, struct bh_message *message)
{
	const struct bh_channel_end *life = end->receives_from;
	const uint32_t *counter = end->peer_counter;
	const uint8_t *slots = end->peer_slots;
	const uint32_t expected = end->expected, taken = end->taken, next = taken + 1, plain_end = end->plain_end;
	const uint32_t mask = end->mask, stride = end->stride;
	uint32_t sent = end->peer_sent;
	const struct bh_channel_slot *slot;
	struct bh_message found;
	bool unusual;

	/* The other end lives as it did, and there are messages: from one to all slots. The counter is read before the page. */
	if (sent == taken)
		sent = __atomic_load_n(counter, __ATOMIC_ACQUIRE);
	unusual = __atomic_load_n(&life->epoch, __ATOMIC_RELAXED) != expected;
	unusual |= sent - next > mask;
	if (BH_ONE_BRANCH(unusual))
		return false;
	slot = (const struct bh_channel_slot *)(slots + (size_t)(taken & mask) * stride);
	found.data = slot + 1;
	bh_slot_read(slot, &found);
	if (BH_ONE_BRANCH((found.length >= plain_end) | (found.flags >= BH_CHANNEL_CHECKED) | (found.number != taken)))
		return false;
	bh_ring_show(end, next, sent, &found, message);
	return true;
}

/*
 * Shows the oldest message in place, until bh_ring_release. The other end can change its data meanwhile: copy what is checked and then
 * used. Returns BH_END_OK; BH_END_CHECK, and the message is the damaged one, to be released like others; BH_END_AGAIN if there is none;
 * BH_END_NEW, BH_END_GONE, BH_END_BROKEN, BH_END_INVALID.
 */
static inline enum bh_end_result bh_ring_peek(struct bh_end *end, struct bh_message *message)
{
	enum bh_end_result result;
	struct bh_message found;

	if (bh_ring_peek_usual(end, message))
		return BH_END_OK;
	result = bh_ring_peek_slowly(end, &found); /* as in bh_ring_reserve */
	if (result == BH_END_OK || result == BH_END_CHECK)
		*message = found;
	return result;
}

static inline bool bh_ring_is_shown(const struct bh_end *end)
{
	return end->shown != end->taken;
}

/* No message was shown: the caller's mistake, unless the connection has ended with it. */
static __attribute__((__cold__, __noinline__, __unused__)) enum bh_end_result bh_ring_none_shown(struct bh_end *end)
{
	const enum bh_end_result result = end->role == BH_END_RING_READER ? bh_end_look(end) : BH_END_OK;

	return result == BH_END_OK ? BH_END_INVALID : result;
}

/*
 * Gives the slot of the message that was shown back to the other end. As bh_ring_publish it does not look at the page: if the connection
 * has ended, the next call of bh_ring_peek says BH_END_NEW. Returns BH_END_OK; BH_END_INVALID if none was shown; if this end is not
 * connected BH_END_NEW, BH_END_AGAIN, BH_END_GONE, BH_END_BROKEN.
 */
static inline enum bh_end_result bh_ring_release(struct bh_end *end)
{
	const uint32_t shown = end->shown;

	if (__builtin_expect(shown == end->taken, 0))
		return bh_ring_none_shown(end);
	end->taken = shown;
	bh_ring_count(end->own_counter, shown);
	return BH_END_OK;
}

/* ---- MAILBOX ------------------------------------------------------------------------------------------------------------------------- */

/*
 * Sends a copy of `length` bytes at `data`.
 * Returns BH_END_OK; BH_END_AGAIN if this end has something to receive, or the other has not taken the last message; BH_END_SIZE if it is
 * longer than a slot; BH_END_NEW, BH_END_GONE, BH_END_BROKEN; BH_END_INVALID for unknown flags, too.
 */
static inline enum bh_end_result bh_mailbox_send(struct bh_end *end, const void *data, uint32_t length, uint32_t flags)
{
	enum bh_end_result result;
	struct bh_channel_slot *slot;

	if (end->role != BH_END_MAILBOX || !bh_flags_valid(flags))
		return BH_END_INVALID;
	result = bh_end_look(end);
	if (result != BH_END_OK)
		return result;
	if (bh_end_peer_gone(end))
		return BH_END_GONE;
	if (length > end->slot_bytes)
		return BH_END_SIZE;
	result = bh_end_read_taken(end);
	if (result == BH_END_OK)
		result = bh_end_read_sent(end);
	if (result != BH_END_OK)
		return result;
	if (end->peer_taken != end->sent || end->peer_sent != end->taken)
		return BH_END_AGAIN;
	slot = bh_own_slot(end, 0);
	bh_copy_to_slot(bh_slot_data(slot), data, length);
	bh_slot_close(end, slot, end->sent, length, flags);
	end->sent++;
	__atomic_store_n(&end->own->sent, end->sent, __ATOMIC_RELEASE);
	return BH_END_OK;
}

/*
 * Copies the other end's message to `buffer`, and takes it.
 * Returns BH_END_OK; BH_END_CHECK if it was damaged, and it is taken, too; BH_END_SIZE if it is longer than `capacity`: `*message` says how
 * long, and it stays; BH_END_AGAIN if there is none; BH_END_NEW, BH_END_GONE, BH_END_BROKEN, BH_END_INVALID.
 */
static inline enum bh_end_result bh_mailbox_receive(struct bh_end *end, void *buffer, uint32_t capacity, struct bh_message *message)
{
	enum bh_end_result result;
	struct bh_message found;
	const struct bh_channel_slot *slot;

	if (end->role != BH_END_MAILBOX)
		return BH_END_INVALID;
	result = bh_end_waiting(end);
	if (result != BH_END_OK)
		return result;
	slot = bh_peer_slot(end, 0);
	if (!bh_slot_open(end, slot, &found) || found.number != end->taken)
		return bh_end_refuse(end, BH_END_BROKEN);
	found.data = buffer;
	*message = found;
	if (found.length > capacity)
		return BH_END_SIZE;
	bh_copy_from_slot(buffer, (const uint8_t *)(slot + 1), found.length);
	if (bh_message_damaged(end, slot, &found)) {
		result = bh_end_refuse(end, BH_END_CHECK);
		if (result != BH_END_CHECK)
			return result;
	}
	bh_end_take(end);
	return result;
}

/* ---- LATEST -------------------------------------------------------------------------------------------------------------------------- */

/* A pair that no reader reads: each says one, and there is one more. */
static inline uint32_t bh_latest_free_pair(const struct bh_end *end)
{
	uint32_t said = 0, pair = 0;

	/* Sequentially consistent, here and in the reader: each stores one word (`latest`, `reading`) and then loads the other, and at
	 * least one of them must see what the other stored. Release and acquire allow that neither does. */
	if (__builtin_expect(end->readers == 1, 1))
		return (__atomic_load_n(&end->peer->reading[0], __ATOMIC_SEQ_CST) & 1) ^ 1;
	for (uint32_t reader = 0; reader < end->readers; reader++)
		said |= 1U << (__atomic_load_n(&end->peer->reading[reader], __ATOMIC_SEQ_CST) & BH_CHANNEL_MOST_READERS);
	while (said >> pair & 1)
		pair++;
	return pair;
}

/*
 * Makes a copy of `length` bytes at `data` the latest value. Never waits for a reader: writes a pair of slots that none reads, and of that
 * the slot that is not the pair's newest.
 * Returns BH_END_OK; BH_END_SIZE if it is longer than a slot; BH_END_AGAIN, BH_END_NEW, BH_END_GONE, BH_END_BROKEN, BH_END_INVALID.
 */
static inline enum bh_end_result bh_latest_write(struct bh_end *end, const void *data, uint32_t length)
{
	enum bh_end_result result;
	struct bh_channel_control *own;
	struct bh_channel_slot *slot;
	uint32_t pair, index, number, word;

	if (end->role != BH_END_LATEST_WRITER)
		return BH_END_INVALID;
	result = bh_end_look(end);
	if (result != BH_END_OK)
		return result;
	if (bh_end_peer_gone(end))
		return BH_END_GONE;
	if (length > end->slot_bytes)
		return BH_END_SIZE;
	pair = bh_latest_free_pair(end);
	index = pair * 2 + (~end->slot[pair] & 1);
	slot = bh_own_slot(end, index);
	bh_copy_to_slot(bh_slot_data(slot), data, length);
	own = end->own;
	number = end->sent;
	bh_slot_close(end, slot, number, length, BH_CHANNEL_START | BH_CHANNEL_END);
	word = (number + 1) << 1 | (index & 1);
	pair = index / 2;
	end->slot[pair] = word;
	end->sent = number + 1;
	__atomic_store_n(&own->slot[pair], word, __ATOMIC_SEQ_CST);
	__atomic_store_n(&own->latest, pair, __ATOMIC_SEQ_CST);
	__atomic_store_n(&own->sent, number + 1, __ATOMIC_RELEASE);
	return BH_END_OK;
}

/*
 * Copies the latest value to `buffer`, whole, also while another one is written: it is that of the last write that has ended, or of the one
 * under way, and never older than the one that this reader had before. `message->number` says whether it is the same; while a write is
 * under way, one reader may have its value before another one does. Never waits for the writer, nor for other readers.
 * Returns BH_END_OK; BH_END_AGAIN if nothing was written in this connection; BH_END_GONE if the writer is gone and its last value was read;
 * BH_END_SIZE if it is longer than `capacity`, and `*message` says how long; BH_END_CHECK if it is damaged; BH_END_NEW, BH_END_BROKEN,
 * BH_END_INVALID. What is in `buffer` is a value only after BH_END_OK.
 */
static inline enum bh_end_result bh_latest_read(struct bh_end *end, void *buffer, uint32_t capacity, struct bh_message *message)
{
	const struct bh_channel_control *peer = end->peer;
	enum bh_end_result result;
	const struct bh_channel_slot *slot;
	struct bh_message found;
	uint32_t first, last, pair;
	bool gone, valid;

	if (end->role != BH_END_LATEST_READER)
		return BH_END_INVALID;
	result = bh_end_look(end);
	if (result != BH_END_OK)
		return result;
	gone = bh_end_peer_gone(end);
	first = __atomic_load_n(&peer->sent, __ATOMIC_ACQUIRE);
	if (first == 0 && !end->started) {
		result = bh_end_look(end);
		return result != BH_END_OK ? result : gone ? BH_END_GONE : BH_END_AGAIN;
	}
	pair = end->pair;
	/* Else it has a value whose write has not ended, as seen from here: `latest` may lead to an older one. Its pair is said still. */
	if (__builtin_expect(!end->started || first + 1 != end->taken, 1)) {
		pair = __atomic_load_n(&peer->latest, __ATOMIC_SEQ_CST);
		if (pair > end->readers)
			return bh_end_refuse(end, BH_END_BROKEN);
		end->pair = pair;
		__atomic_store_n(end->reading, pair, __ATOMIC_SEQ_CST); /* see bh_latest_free_pair */
	}
	slot = bh_peer_slot(end, pair * 2 + (__atomic_load_n(&peer->slot[pair], __ATOMIC_SEQ_CST) & 1));
	valid = bh_slot_open(end, slot, &found);
	if (valid && found.length <= capacity)
		bh_copy_from_slot(buffer, (const uint8_t *)(slot + 1), found.length);
	last = __atomic_load_n(&peer->sent, __ATOMIC_RELAXED);
	/* The page after the value: a new life writes as soon as another reader has found it. See bh_end_connect. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	result = bh_end_look(end);
	if (result != BH_END_OK)
		return result;
	first--; /* number of the last write that had ended; `last` is that of the next one, which may be seen before it ends */
	if (!valid || found.number - first > last - first)
		return bh_end_refuse(end, BH_END_BROKEN);
	if (gone && end->started && found.number + 1 == end->taken)
		return BH_END_GONE;
	found.data = buffer;
	if (found.length <= capacity && bh_message_damaged(end, slot, &found))
		return bh_end_refuse(end, BH_END_CHECK);
	*message = found;
	if (found.length > capacity)
		return BH_END_SIZE;
	end->started = true;
	end->taken = found.number + 1;
	return BH_END_OK;
}
