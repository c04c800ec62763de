/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. The ends of a channel (abi/channel_inline.h) for every content of what the other end and monitors write, which may change
 * between any two reads: each load of shared memory finds anything. By CBMC alone: it sees all bytes that are read or written, and loops to
 * their ends.
 *
 *   ATTACH      a page of anything is an end whose parts lie in what is mapped, or none
 *   OPERATION   of an end in any state that HOLDS, one operation: it reads only the channel, its own state and the caller's buffer, writes
 *               only its own area, its own state and the buffer, ends, and leaves an end in such a state. It returns one of its results,
 *               and a message that lies in a slot, or in the buffer, and is no longer
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint64_t nondet_u64(void);
static void check_load(const volatile void *place, size_t bytes);
static void check_store(const volatile void *place, size_t bytes);
/* A local variable without a value has any, for CBMC. */
#define __atomic_load_n(place, order)                \
	({                                           \
		__typeof__(*(place)) found;          \
		check_load(place, sizeof(*(place))); \
		found;                               \
	})
#define __atomic_store_n(place, value, order) (check_store(place, sizeof(*(place))), (void)(value)) /* no load finds it */
#define __atomic_thread_fence(order)          ((void)0)
#include "abi/channel_inline.h"

#define ASSUME(claim) __CPROVER_assume(claim)
#define PROVE(claim)  __CPROVER_assert(claim, #claim)
#ifdef NOT_PROVED /* CBMC must find that the end is reached, or the assumptions contradict each other */
#define REACHED() __CPROVER_assert(false, "the end is reached")
#else
#define REACHED() (void)0
#endif

#define AREA    4096
#define MAPPED  (AREA + BH_PAGE_BYTES + AREA)
#define CONTROL sizeof(struct bh_channel_control)
#define HEAD    sizeof(struct bh_channel_slot)

static _Alignas(BH_PAGE_BYTES) uint8_t whole[MAPPED];
static struct bh_end end;
static unsigned side;

static bool lies_in(const volatile void *place, size_t bytes, const uint8_t *start, size_t size)
{
	const size_t offset = __CPROVER_POINTER_OFFSET(place) - __CPROVER_POINTER_OFFSET(start);

	return __CPROVER_same_object((const void *)place, start) && offset <= size && bytes <= size - offset;
}

#ifdef ATTACH

static void check_load(const volatile void *place, size_t bytes)
{
	PROVE(false); /* it touches nothing of the areas */
}

static void check_store(const volatile void *place, size_t bytes)
{
	PROVE(false);
}

/* Whether all slots of this side's area are mapped, the last one too. */
static void prove_slots(const uint8_t *slots, uint32_t count)
{
	PROVE(count == 0 || lies_in(slots, (count - 1) * (uint64_t)end.stride + HEAD + end.slot_bytes, whole, sizeof(whole)));
	PROVE(lies_in(slots - CONTROL, CONTROL, whole, sizeof(whole)));
}

void prove(void)
{
	const uint64_t bytes = nondet_u64();
	const uint32_t offset = (uint32_t)nondet_u64();
	struct bh_channel page;

	side = (unsigned)nondet_u64();
	ASSUME(bytes <= sizeof(whole));
	if (offset <= sizeof(whole) - BH_PAGE_BYTES)
		*(struct bh_channel *)(whole + offset / BH_PAGE_BYTES * BH_PAGE_BYTES) = page;
	if (bh_end_attach(&end, whole, bytes, offset, side) == BH_END_OK) {
		PROVE(side < 2);
		PROVE(end.slots <= BH_CHANNEL_MOST_SLOTS && end.slot_bytes <= BH_CHANNEL_MOST_SLOT_BYTES &&
		      end.slot_bytes % BH_CHANNEL_LINE == 0);
		PROVE(end.role != BH_END_DETACHED);
		PROVE(end.role != BH_END_MAILBOX || end.slots == 1);
		PROVE(end.readers <= BH_CHANNEL_MOST_READERS);
		prove_slots(end.own_slots, side == 0 || end.role == BH_END_MAILBOX ? end.slots : 0);
		prove_slots(end.peer_slots, side == 1 || end.role == BH_END_MAILBOX ? end.slots : 0);
		PROVE(lies_in(end.own_life, sizeof(*end.own_life), whole, sizeof(whole)));
		PROVE(lies_in(end.peer_life, sizeof(*end.peer_life), whole, sizeof(whole)));
		REACHED();
	} else {
		PROVE(end.role == BH_END_DETACHED);
	}
}

#else

#define SLOT_BYTES 64
#define STRIDE     (SLOT_BYTES + HEAD)
#define ROOM       (SLOT_BYTES + 9)

static uint8_t buffer[ROOM];
static uint32_t length;  /* of it, as the caller says */
static uint32_t watched; /* any byte of it, and what it holds: behind `length` nothing is written */
static uint8_t kept;

static const uint8_t *area_of(unsigned whose)
{
	return whole + (whose ? AREA + BH_PAGE_BYTES : 0);
}

static size_t used(unsigned whose)
{
	return CONTROL + bh_channel_slots(KIND, SLOTS, whose) * STRIDE;
}

/* Of a channel its control, slots and page; and what is private, which CBMC watches by itself. */
static void check_load(const volatile void *place, size_t bytes)
{
	if (!__CPROVER_same_object((const void *)place, whole))
		return;
	PROVE(lies_in(place, bytes, area_of(0), used(0)) || lies_in(place, bytes, area_of(1), used(1)) ||
	      lies_in(place, bytes, whole + AREA, sizeof(struct bh_channel)));
}

static void check_store(const volatile void *place, size_t bytes)
{
	PROVE(lies_in(place, bytes, area_of(side), used(side)));
}

/* What is so between any two operations. */
static bool holds(void)
{
	const bool sends = end.role == BH_END_RING_SENDER, reads = end.role == BH_END_RING_READER;
	const uint32_t pairs = bh_latest_readers(SLOTS) + 1;

	if (end.plain_end != 0 && end.plain_end != SLOT_BYTES + 1)
		return false;
	/* What bh_end_set_connected makes of it, and nothing else. */
	if (end.expected != (end.connected ? end.peer_epoch : 1))
		return false;
	if (end.sends_to != (end.connected && sends ? end.peer_life : &bh_nobody))
		return false;
	if (end.receives_from != (end.connected && reads ? end.peer_life : &bh_nobody))
		return false;
	if (end.peer_counter != (end.connected && reads ? &end.peer->sent : &bh_nobody.epoch))
		return false;
	if (end.reserved != NULL && (!sends || end.reserved != bh_own_slot(&end, end.written & (SLOTS - 1))))
		return false;
	return KIND != BH_CHANNEL_LATEST || end.pair < pairs;
}

static void any_state(void)
{
	struct bh_end any;

	end.peer_taken = any.peer_taken;
	end.peer_epoch = any.peer_epoch;
	end.peer_sent = any.peer_sent;
	end.shown = any.shown;
	end.taken = any.taken;
	end.plain_end = any.plain_end;
	end.written = any.written;
	end.sent = any.sent;
	end.epoch = any.epoch;
	end.connected = nondet_u64() & 1;
	end.broken = nondet_u64() & 1;
	end.started = nondet_u64() & 1;
	end.pair = any.pair;
	for (unsigned n = 0; n <= BH_CHANNEL_MOST_READERS; n++)
		end.slot[n] = any.slot[n];
	bh_end_set_connected(&end, end.connected); /* what follows from it */
	if (end.connected && end.role == BH_END_RING_SENDER)
		end.reserved = nondet_u64() & 1 ? bh_own_slot(&end, end.written & (SLOTS - 1)) : NULL;
	ASSUME(holds());
}

static void open_end(void)
{
	struct bh_channel *page = (struct bh_channel *)(whole + AREA);

	page->magic = BH_CHANNEL_MAGIC;
	page->version = BH_CHANNEL_VERSION;
	page->kind = KIND;
	page->slots = SLOTS;
	page->slot_bytes = SLOT_BYTES;
	page->slot_stride = STRIDE;
	page->area_bytes[0] = page->area_bytes[1] = AREA;
	side = SIDE;
	ASSUME(bh_end_attach(&end, whole, MAPPED, AREA, side) == BH_END_OK);
	if (end.role == BH_END_LATEST_READER) {
		const uint32_t reader = (uint32_t)nondet_u64();

		ASSUME(reader < end.readers);
		end.reading = &end.own->reading[reader];
	}
}

/* `message` is what an operation that returned `result` has told of. */
static void prove_message(enum bh_end_result result, const struct bh_message *message, bool in_place)
{
	if (result != BH_END_OK && !(result == BH_END_CHECK && in_place))
		return;
	PROVE(message->length <= SLOT_BYTES);
	PROVE(!(message->flags & ~(uint32_t)(BH_CHANNEL_START | BH_CHANNEL_END | BH_CHANNEL_CHECKED)));
	if (in_place) {
		PROVE(lies_in(message->data, message->length, area_of(!side), used(!side)));
		PROVE((__CPROVER_POINTER_OFFSET(message->data) - __CPROVER_POINTER_OFFSET(end.peer_slots)) % STRIDE == HEAD);
	} else {
		PROVE(message->data == buffer && message->length <= length);
	}
}

static void watch_buffer(void)
{
	watched = (uint32_t)nondet_u64();
	kept = (uint8_t)nondet_u64();
	ASSUME(length <= ROOM && watched < ROOM);
	buffer[watched] = kept;
}

void prove(void)
{
	const uint32_t flags = (uint32_t)nondet_u64();
	enum bh_end_result result;
	struct bh_message message;
	void *data;

	length = (uint32_t)nondet_u64();
	open_end();
	any_state();
#if defined(RESERVE)
	result = bh_ring_reserve(&end, &data);
	if (result == BH_END_OK)
		PROVE(lies_in(data, SLOT_BYTES, area_of(side), used(side)));
#elif defined(COMMIT)
	result = bh_ring_commit(&end, length, flags);
	PROVE(result != BH_END_OK || length <= SLOT_BYTES);
#elif defined(SEND)
	result = bh_ring_send(&end, length, flags);
#elif defined(PUBLISH)
	result = bh_ring_publish(&end);
#elif defined(PEEK)
	result = bh_ring_peek(&end, &message);
	prove_message(result, &message, true);
#elif defined(RELEASE)
	result = bh_ring_release(&end);
#elif defined(MAIL)
	ASSUME(length <= ROOM);
	result = bh_mailbox_send(&end, buffer, length, flags);
#elif defined(RECEIVE)
	watch_buffer();
	result = bh_mailbox_receive(&end, buffer, length, &message);
	prove_message(result, &message, false);
	PROVE(watched < length || buffer[watched] == kept);
#elif defined(WRITE)
	ASSUME(length <= ROOM);
	result = bh_latest_write(&end, buffer, length);
#else
	watch_buffer();
	result = bh_latest_read(&end, buffer, length, &message);
	prove_message(result, &message, false);
	PROVE(watched < length || buffer[watched] == kept);
#endif
	PROVE(result >= BH_END_OK && result < BH_END_INVALID + 1);
	PROVE(holds());
	REACHED();
}
#endif
