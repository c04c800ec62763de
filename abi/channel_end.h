/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An end of a channel (channel.h) and its connections: what all kinds have in common. Programs include channel_inline.h.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "channel.h"
#include "channel_bytes.h"

_Static_assert(sizeof(struct bh_channel_control) == (size_t)4 * BH_CHANNEL_LINE, "four lines");
_Static_assert(offsetof(struct bh_channel_control, sent) == BH_CHANNEL_LINE, "a line of its own");
_Static_assert(offsetof(struct bh_channel_control, taken) == (size_t)2 * BH_CHANNEL_LINE, "a line of its own");
_Static_assert(offsetof(struct bh_channel_control, slot) == (size_t)3 * BH_CHANNEL_LINE, "a line of its own");
_Static_assert(sizeof(struct bh_channel_slot) == BH_CHANNEL_LINE, "data begins a line");
_Static_assert(offsetof(struct bh_channel, end) == (size_t)2 * BH_CHANNEL_LINE, "lines of their own");
_Static_assert(sizeof(struct bh_channel) == (size_t)4 * BH_CHANNEL_LINE, "four lines");

enum bh_end_result {
	BH_END_OK,
	BH_END_AGAIN,   /* nothing to read, no room, or the other end does not take part yet */
	BH_END_NEW,     /* a connection began: what was under way is lost, numbers begin at 0. Said once */
	BH_END_GONE,    /* the other end will not come back, and all that it has sent was read */
	BH_END_BROKEN,  /* the other end broke the protocol; stays until one of the two lives anew */
	BH_END_SIZE,    /* longer than a slot, or than the buffer */
	BH_END_CHECK,   /* a message came, and is damaged: its CRC is wrong, or it has none and must have one */
	BH_END_INVALID, /* the caller's mistake: wrong kind or side, wrong order of calls, unknown flags */
};

enum bh_end_role {
	BH_END_DETACHED,
	BH_END_MAILBOX,
	BH_END_RING_SENDER,
	BH_END_RING_READER,
	BH_END_LATEST_WRITER,
	BH_END_LATEST_READER,
};

/* Several conditions, none of which is usual, that one branch decides: compilers may make one of each. */
#ifdef __clang__
#define BH_ONE_BRANCH(conditions) __builtin_unpredictable(conditions)
#else
#define BH_ONE_BRANCH(conditions) __builtin_expect(conditions, 0)
#endif

struct bh_message {
	const void *data;
	uint32_t length; /* bytes */
	uint32_t flags;  /* enum bh_channel_flags, or-ed */
	uint32_t number; /* in its connection, from 0 on */
};

/*
 * Private to its sandbox. The caller may read the counts; all else is for the functions. What a ring's calls use together lies together, as
 * processors load pairs.
 */
struct bh_end {
	const struct bh_channel_end *sends_to; /* RING, end 0: the other's life, while connected; else &bh_nobody */
	uint8_t *own_slots;
	const struct bh_channel_end *receives_from; /* likewise of end 1 */
	const uint8_t *peer_slots;
	struct bh_channel_slot *reserved; /* RING, end 0: that is not committed; NULL: none */
	uint32_t *own_counter;            /* RING: `sent` of end 0, `taken` of end 1 */
	const uint32_t *peer_counter;     /* RING, end 1, while connected: `sent` of end 0 */

	uint32_t full_at;   /* `written` when no slot is free: peer_taken + slots */
	uint32_t expected;  /* the epoch that is to be found in sends_to or receives_from, never 0 */
	uint32_t peer_sent; /* as last read */
	uint32_t shown;     /* RING, end 1: `taken` once the message that bh_ring_peek showed is released; `taken`: none was shown */
	uint32_t taken;
	uint32_t plain_end;     /* a message of fewer bytes fits and needs no CRC: slot_bytes + 1; 0: all need one */
	uint32_t written, sent; /* committed; published */
	uint32_t mask, stride;  /* slots - 1; bytes from slot to slot */

	const struct bh_channel_end *own_life, *peer_life; /* in the page */
	struct bh_channel_control *own;
	const struct bh_channel_control *peer;
	enum bh_end_role role;
	uint32_t slots, slot_bytes;
	uint32_t epoch, peer_epoch; /* of the connection that this end takes part in */
	uint32_t peer_taken;        /* as last read */
	bool connected;             /* both ends have said so, and nothing is broken */
	bool broken;                /* in this connection */

	/* LATEST */
	bool started; /* end 1: a value has been read */
	uint32_t readers;
	uint32_t slot[BH_CHANNEL_MOST_READERS + 1]; /* end 0: as in its control */
	uint32_t *reading;                          /* end 1: this reader's word of its control */
	uint32_t pair;                              /* end 1: the one that it says there */

	uint32_t connections; /* how often BH_END_NEW was said */
	uint32_t refused;     /* messages and counters that were refused: BROKEN, CHECK */
};

/* Of a message from the life `from` to the life `to`. */
static inline uint32_t bh_message_check(uint32_t from, uint32_t to, const struct bh_message *message)
{
	const uint32_t head[] = { from, to, message->number, message->flags, message->length };

	return bh_crc32c(bh_crc32c(0, head, sizeof(head)), message->data, message->length);
}

/* ---- Layout -------------------------------------------------------------------------------------------------------------------------- */

/* Slots of one side's area, where the page says `slots`. */
static inline uint32_t bh_channel_slots(uint32_t kind, uint32_t slots, unsigned side)
{
	return side == 0 || kind == BH_CHANNEL_MAILBOX ? slots : 0;
}

/* Slots of a latest value, and who may read it. */
static inline uint32_t bh_latest_slots(uint32_t readers)
{
	return 2 * readers + 2;
}

static inline uint32_t bh_latest_readers(uint32_t slots)
{
	return slots / 2 - 1;
}

/* Bytes of an area: whole pages. */
static inline uint64_t bh_channel_area_bytes(uint32_t slots, uint32_t slot_bytes)
{
	const uint64_t bytes = sizeof(struct bh_channel_control) + slots * ((uint64_t)sizeof(struct bh_channel_slot) + slot_bytes);

	return (bytes + BH_PAGE_BYTES - 1) & ~(uint64_t)(BH_PAGE_BYTES - 1);
}

/* Whether a channel may be so. */
static inline bool bh_channel_valid(uint32_t kind, uint32_t slots, uint32_t slot_bytes)
{
	if (slot_bytes == 0 || slot_bytes % BH_CHANNEL_LINE || slot_bytes > BH_CHANNEL_MOST_SLOT_BYTES)
		return false;
	switch (kind) {
	case BH_CHANNEL_MAILBOX:
		return slots == 1;
	case BH_CHANNEL_RING:
		return slots && (slots & (slots - 1)) == 0 && slots <= BH_CHANNEL_MOST_SLOTS;
	case BH_CHANNEL_LATEST:
		return slots % 2 == 0 && slots >= bh_latest_slots(1) && slots <= bh_latest_slots(BH_CHANNEL_MOST_READERS);
	default:
		return false;
	}
}

static inline enum bh_end_role bh_end_role_of(uint32_t kind, unsigned side)
{
	if (kind == BH_CHANNEL_MAILBOX)
		return BH_END_MAILBOX;
	if (kind == BH_CHANNEL_RING)
		return side ? BH_END_RING_READER : BH_END_RING_SENDER;
	return side ? BH_END_LATEST_READER : BH_END_LATEST_WRITER;
}

/* Of no life: where an end that is not connected looks, and finds nothing usual. Its epoch is no life's, and as a counter it is 0. */
static const struct bh_channel_end bh_nobody __attribute__((unused)) = { .epoch = 0, .state = BH_CHANNEL_GONE };

/* The other end has taken so many. */
static inline void bh_end_set_taken(struct bh_end *end, uint32_t taken)
{
	end->peer_taken = taken;
	end->full_at = taken + end->slots;
}

/* An end that is not connected has no slot reserved and no message shown. */
static inline void bh_end_set_connected(struct bh_end *end, bool connected)
{
	const bool reads = connected && end->role == BH_END_RING_READER;

	end->connected = connected;
	end->expected = connected ? end->peer_epoch : 1;
	end->sends_to = connected && end->role == BH_END_RING_SENDER ? end->peer_life : &bh_nobody;
	end->receives_from = reads ? end->peer_life : &bh_nobody;
	end->peer_counter = reads ? &end->peer->sent : &bh_nobody.epoch;
	if (!connected) {
		end->reserved = NULL;
		end->shown = end->taken;
	}
}

/*
 * Makes `end` the end `side` (0 or 1) of the channel of `bytes` at `whole`, whose struct bh_channel lies at `page_offset`: gpa, size, line
 * and vector of its grant. Touches nothing of the channel; the first operation takes part in a connection. A program that begins again in
 * the same life of its sandbox goes on where the one before it stopped.
 * Requires: `bytes` at `whole` are mapped, as normal write-back memory, with the MMU and caches on; in Linux by memremap(..., MEMREMAP_WB).
 * An end that is attached anew is used no more through another struct bh_end. Returns BH_END_OK, or BH_END_INVALID, and then all operations
 * on `end` return that.
 */
static inline enum bh_end_result bh_end_attach(struct bh_end *end, void *whole, uint64_t bytes, uint32_t page_offset, unsigned side)
{
	uint8_t *start = (uint8_t *)whole;
	const struct bh_channel *page;
	uint8_t *areas[2];
	uint32_t kind, slots, slot_bytes;
	uint64_t area[2];

	for (size_t n = 0; n < sizeof(*end); n++)
		((volatile uint8_t *)end)[n] = 0; /* no call of memset, which there may not be. BH_END_DETACHED is 0 */
	bh_end_set_connected(end, false);
	if (!whole || (uintptr_t)whole % BH_CHANNEL_LINE || side > 1 || page_offset % BH_PAGE_BYTES)
		return BH_END_INVALID;
	if (bytes > SIZE_MAX || bytes < BH_PAGE_BYTES || page_offset > bytes - BH_PAGE_BYTES)
		return BH_END_INVALID;
	page = (const struct bh_channel *)(start + page_offset);
	kind = page->kind;
	slots = page->slots;
	slot_bytes = page->slot_bytes;
	if (page->magic != BH_CHANNEL_MAGIC || page->version != BH_CHANNEL_VERSION || !bh_channel_valid(kind, slots, slot_bytes))
		return BH_END_INVALID;
	if (page->slot_stride != slot_bytes + sizeof(struct bh_channel_slot))
		return BH_END_INVALID;
	area[0] = bh_channel_area_bytes(bh_channel_slots(kind, slots, 0), slot_bytes);
	area[1] = bh_channel_area_bytes(bh_channel_slots(kind, slots, 1), slot_bytes);
	if (page->area_bytes[0] != area[0] || page->area_bytes[1] != area[1])
		return BH_END_INVALID;
	if (page_offset != area[0] || bytes != area[0] + BH_PAGE_BYTES + area[1])
		return BH_END_INVALID;
	areas[0] = start;
	areas[1] = start + page_offset + BH_PAGE_BYTES;
	end->own_life = &page->end[side];
	end->peer_life = &page->end[!side];
	end->own = (struct bh_channel_control *)areas[side];
	end->peer = (const struct bh_channel_control *)areas[!side];
	end->own_slots = areas[side] + sizeof(struct bh_channel_control);
	end->peer_slots = areas[!side] + sizeof(struct bh_channel_control);
	end->slots = slots;
	end->mask = slots - 1;
	end->slot_bytes = slot_bytes;
	end->plain_end = slot_bytes + 1;
	end->stride = slot_bytes + (uint32_t)sizeof(struct bh_channel_slot);
	end->role = bh_end_role_of(kind, side);
	end->own_counter = side ? &end->own->taken : &end->own->sent;
	end->readers = kind == BH_CHANNEL_LATEST ? bh_latest_readers(slots) : 0;
	end->reading = &end->own->reading[0];
	return BH_END_OK;
}

/*
 * Makes `end` reader `reader` of the latest value there, from 0 on; bh_end_attach makes it reader 0. Each reader has a struct bh_end and a
 * number of its own, which another thread or process has only after this one has ended. A number that nobody uses costs its two slots,
 * and one look in each write.
 * Requires, and returns, as bh_end_attach; BH_END_INVALID, too, if there is no such reader.
 */
static inline enum bh_end_result bh_end_attach_reader(struct bh_end *end, void *whole, uint64_t bytes, uint32_t page_offset,
						      uint32_t reader)
{
	const enum bh_end_result result = bh_end_attach(end, whole, bytes, page_offset, 1);

	if (result != BH_END_OK)
		return result;
	if (reader >= end->readers) { /* no other kind has any */
		end->role = BH_END_DETACHED;
		return BH_END_INVALID;
	}
	end->reading = &end->own->reading[reader];
	return BH_END_OK;
}

/* From now on `end` sends with a CRC, and takes no message without one; or no longer. Once it is attached, at any time. */
static inline void bh_end_set_checked(struct bh_end *end, bool checked)
{
	end->plain_end = checked ? 0 : end->slot_bytes + 1;
}

static inline bool bh_end_is_checked(const struct bh_end *end)
{
	return end->plain_end == 0;
}

/* ---- Connections --------------------------------------------------------------------------------------------------------------------- */

/* With release: who reads one of these, and then the page, finds the epoch there that made this end clear them. */
static inline void bh_end_clear(const struct bh_end *end)
{
	struct bh_channel_control *control = end->own;

	__atomic_store_n(&control->peer, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&control->sent, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&control->taken, 0, __ATOMIC_RELEASE);
	if (end->role != BH_END_LATEST_WRITER)
		return;
	for (uint32_t pair = 0; pair <= end->readers; pair++)
		__atomic_store_n(&control->slot[pair], 0, __ATOMIC_RELEASE);
}

/*
 * The program before this one may have ended while it published a value: readers may have it, under a number that does not count yet. It
 * counts from here on, so that no other value gets its number.
 */
static inline void bh_latest_finish(struct bh_end *end)
{
	for (uint32_t pair = 0; pair <= end->readers; pair++)
		end->slot[pair] = __atomic_load_n(&end->own->slot[pair], __ATOMIC_RELAXED);
	for (uint32_t pair = 0; pair <= end->readers; pair++) {
		if (!end->slot[pair] || (end->slot[pair] ^ (end->sent + 1) << 1) > 1)
			continue;
		__atomic_store_n(&end->own->latest, pair, __ATOMIC_SEQ_CST);
		end->sent++;
		__atomic_store_n(&end->own->sent, end->sent, __ATOMIC_RELEASE);
		return;
	}
}

/* Takes part in the connection of the lives `own` and `peer`: its counters are clear before the other end can read that it does. */
static inline void bh_end_begin(struct bh_end *end, uint32_t own, uint32_t peer)
{
	struct bh_channel_control *control = end->own;

	end->epoch = own;
	end->peer_epoch = peer;
	bh_end_set_connected(end, false);
	end->broken = end->started = false;
	end->connections++;
	if (__atomic_load_n(&control->epoch, __ATOMIC_RELAXED) != own || __atomic_load_n(&control->peer, __ATOMIC_RELAXED) != peer) {
		/* A reader of a latest value has nothing to clear, and others may be reading by now. */
		if (end->role != BH_END_LATEST_READER)
			bh_end_clear(end);
		__atomic_store_n(&control->epoch, own, __ATOMIC_RELEASE);
		__atomic_store_n(&control->peer, peer, __ATOMIC_RELEASE);
	}
	end->sent = end->written = __atomic_load_n(&control->sent, __ATOMIC_RELAXED);
	end->taken = end->shown = end->peer_sent = __atomic_load_n(&control->taken, __ATOMIC_RELAXED);
	bh_end_set_taken(end, end->sent - end->slots); /* the most that can be left: it is read before anything is sent */
	if (end->role == BH_END_LATEST_WRITER)
		bh_latest_finish(end);
}

/* Acquire: what the other end sent before it went can be read afterwards. */
static inline bool bh_end_peer_gone(const struct bh_end *end)
{
	return __atomic_load_n(&end->peer_life->state, __ATOMIC_ACQUIRE) == BH_CHANNEL_GONE;
}

/*
 * One of the ends has no life yet. If that is the other one, and it is gone, it never will: an end that is opened on request may go before
 * it was ever opened. The state is read first, as its monitor writes it last.
 */
static inline enum bh_end_result bh_end_absent(const struct bh_end *end)
{
	return bh_end_peer_gone(end) && __atomic_load_n(&end->peer_life->epoch, __ATOMIC_RELAXED) == 0 ? BH_END_GONE : BH_END_AGAIN;
}

/* The page names the lives `own` and `peer`, and this end is not connected, or not with these. */
static inline __attribute__((cold)) enum bh_end_result bh_end_connect(struct bh_end *end, uint32_t own, uint32_t peer)
{
	uint32_t said;
	bool gone;

	if (own != end->epoch || peer != end->peer_epoch) {
		bh_end_set_connected(end, false);
		if (own == 0 || peer == 0)
			return bh_end_absent(end);
		bh_end_begin(end, own, peer);
		return BH_END_NEW;
	}
	if (own == 0 || peer == 0)
		return bh_end_absent(end);
	if (end->broken)
		return BH_END_BROKEN;
	/* Acquire: its monitor unsaid what the life before this one had said, even for the next, and then wrote this epoch. */
	if (__atomic_load_n(&end->peer_life->epoch, __ATOMIC_ACQUIRE) != peer)
		return BH_END_AGAIN;
	gone = bh_end_peer_gone(end);
	/* The epoch first: its release cleared an older `peer`. */
	if (__atomic_load_n(&end->peer->epoch, __ATOMIC_ACQUIRE) != peer)
		return gone ? BH_END_GONE : BH_END_AGAIN;
	said = __atomic_load_n(&end->peer->peer, __ATOMIC_ACQUIRE);
	/* Of several readers each finds this life when it looks, and the last one that did may have been late to say so. */
	if (end->role == BH_END_LATEST_WRITER ? said == 0 : said != own)
		return gone ? BH_END_GONE : BH_END_AGAIN;
	/* A reader that has not looked yet: if it reads what is written from here on, and then the page, it finds this life there. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	bh_end_set_connected(end, true);
	return BH_END_OK;
}

/*
 * Whether the connection is that of the two lives in the page. Every operation asks before it does anything, and once more after it has
 * read a counter of the other end. Returns BH_END_OK, BH_END_AGAIN, BH_END_NEW, BH_END_GONE, BH_END_BROKEN.
 */
static inline enum bh_end_result bh_end_look(struct bh_end *end)
{
	const uint32_t own = __atomic_load_n(&end->own_life->epoch, __ATOMIC_RELAXED);
	const uint32_t peer = __atomic_load_n(&end->peer_life->epoch, __ATOMIC_RELAXED);

	if (__builtin_expect(end->connected && own == end->epoch && peer == end->peer_epoch, 1))
		return BH_END_OK;
	return bh_end_connect(end, own, peer);
}

/* Something of the other end cannot be, unless its area was cleared for another life meanwhile. `why`: BH_END_BROKEN, BH_END_CHECK. */
static inline __attribute__((cold)) enum bh_end_result bh_end_refuse(struct bh_end *end, enum bh_end_result why)
{
	enum bh_end_result result;

	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* the page after what was wrong */
	result = bh_end_look(end);
	if (result != BH_END_OK)
		return result;
	end->refused++;
	if (why == BH_END_BROKEN) {
		end->broken = true;
		bh_end_set_connected(end, false);
	}
	return why;
}

/* ---- Slots and counters -------------------------------------------------------------------------------------------------------------- */

static inline struct bh_channel_slot *bh_own_slot(const struct bh_end *end, uint32_t index)
{
	return (struct bh_channel_slot *)(end->own_slots + (size_t)index * end->stride);
}

static inline const struct bh_channel_slot *bh_peer_slot(const struct bh_end *end, uint32_t index)
{
	return (const struct bh_channel_slot *)(end->peer_slots + (size_t)index * end->stride);
}

static inline uint8_t *bh_slot_data(struct bh_channel_slot *slot)
{
	return (uint8_t *)(slot + 1);
}

static inline void bh_slot_write(struct bh_channel_slot *slot, uint32_t number, uint32_t length, uint32_t flags)
{
	__atomic_store_n(&slot->length, length, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->flags, flags, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->number, number, __ATOMIC_RELAXED);
}

/* Closes an own slot, whose data are in it. */
static inline void bh_slot_close(const struct bh_end *end, struct bh_channel_slot *slot, uint32_t number, uint32_t length, uint32_t flags)
{
	const struct bh_message message = {
		.data = slot + 1, .length = length, .flags = bh_end_is_checked(end) ? flags | BH_CHANNEL_CHECKED : flags, .number = number
	};

	bh_slot_write(slot, number, length, message.flags);
	if (bh_end_is_checked(end))
		__atomic_store_n(&slot->check, bh_message_check(end->epoch, end->peer_epoch, &message), __ATOMIC_RELAXED);
}

/* Reads the words of a slot of the other end; its data are the caller's to name. */
static inline void bh_slot_read(const struct bh_channel_slot *slot, struct bh_message *message)
{
	message->length = __atomic_load_n(&slot->length, __ATOMIC_RELAXED);
	message->flags = __atomic_load_n(&slot->flags, __ATOMIC_RELAXED);
	message->number = __atomic_load_n(&slot->number, __ATOMIC_RELAXED);
}

/* What was read of a slot: whether it may be so, but for its number. */
static inline bool bh_message_valid(const struct bh_end *end, const struct bh_message *message)
{
	return message->length <= end->slot_bytes &&
	       !(message->flags & ~(uint32_t)(BH_CHANNEL_START | BH_CHANNEL_END | BH_CHANNEL_CHECKED));
}

/* Reads the words of a slot of the other end. Returns whether they may be so; `message->data` is the slot's. */
static inline bool bh_slot_open(const struct bh_end *end, const struct bh_channel_slot *slot, struct bh_message *message)
{
	message->data = slot + 1;
	bh_slot_read(slot, message);
	return bh_message_valid(end, message);
}

/* `message`: what was read of `slot`. */
static inline bool bh_message_damaged(const struct bh_end *end, const struct bh_channel_slot *slot, const struct bh_message *message)
{
	if (message->flags & BH_CHANNEL_CHECKED)
		return bh_message_check(end->peer_epoch, end->epoch, message) != __atomic_load_n(&slot->check, __ATOMIC_RELAXED);
	return bh_end_is_checked(end);
}

static inline bool bh_flags_valid(uint32_t flags)
{
	return !(flags & ~(uint32_t)(BH_CHANNEL_START | BH_CHANNEL_END));
}

/* Reads how much the other end has taken. Returns as bh_end_look. */
static inline enum bh_end_result bh_end_read_taken(struct bh_end *end)
{
	const uint32_t taken = __atomic_load_n(&end->peer->taken, __ATOMIC_ACQUIRE);
	const enum bh_end_result result = bh_end_look(end);

	if (result != BH_END_OK)
		return result;
	if (taken - end->peer_taken > end->sent - end->peer_taken) /* neither back, nor more than was sent */
		return bh_end_refuse(end, BH_END_BROKEN);
	bh_end_set_taken(end, taken);
	return BH_END_OK;
}

/* Reads how much the other end has sent. Returns as bh_end_look. */
static inline enum bh_end_result bh_end_read_sent(struct bh_end *end)
{
	const uint32_t sent = __atomic_load_n(&end->peer->sent, __ATOMIC_ACQUIRE);
	const enum bh_end_result result = bh_end_look(end);

	if (result != BH_END_OK)
		return result;
	if (sent - end->taken > end->slots)
		return bh_end_refuse(end, BH_END_BROKEN);
	end->peer_sent = sent;
	return BH_END_OK;
}

/* Returns BH_END_OK if a message of the other end waits; else as bh_end_look. */
static inline enum bh_end_result bh_end_waiting(struct bh_end *end)
{
	enum bh_end_result result;

	if (!end->connected || end->peer_sent != end->taken) {
		result = bh_end_look(end);
		if (result != BH_END_OK || end->peer_sent != end->taken)
			return result;
	}
	result = bh_end_read_sent(end);
	if (result != BH_END_OK || end->peer_sent != end->taken)
		return result;
	if (!bh_end_peer_gone(end))
		return BH_END_AGAIN;
	result = bh_end_read_sent(end); /* what it sent before it went */
	return result == BH_END_OK && end->peer_sent == end->taken ? BH_END_GONE : result;
}

/* Says that the message at `taken` was read. */
static inline void bh_end_take(struct bh_end *end)
{
	end->taken++;
	__atomic_store_n(&end->own->taken, end->taken, __ATOMIC_RELEASE);
}
