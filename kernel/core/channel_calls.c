/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on channels that wait (channel_calls.h). */
#include "kernel/core/channel_calls.h"

#include "abi/channel_wait.h"
#include "kernel/core/channels.h"
#include "kernel/core/clock.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/thread.h"

enum { LOOKS_NS = 100000000 /* of who is rung: for what nobody rings */ };

#define ALONE  (BH_CHANNEL_START | BH_CHANNEL_END)
#define SELDOM __attribute__((noinline, cold))
#define ALWAYS inline __attribute__((always_inline)) /* the first attempt, and further ones */

/* A call, so that it can be tried again. */
struct request {
	enum bh_end_result (*attempt)(struct channel *channel, const struct request *request);
	void **slot;
	const void *data;
	void *buffer;
	uint32_t length;
	struct bh_message *message;
};

/* ---- Waiting ---------------------------------------------------------------------------------------------------------------- */

/*
 * The one place where a thread sleeps until there may be something: as on any other core, if it has moved away from the one that is rung.
 * Returns false if it must not.
 */
static bool sleep_until_maybe(const struct channel *channel, uint64_t deadline)
{
	const bool hears = channel->rung && doorbell_is_heard(channel->rung);
	const uint64_t next = arch_counter() + (hears ? clock_from_ns(LOOKS_NS) : channel->poll);
	const uint64_t until = next < deadline ? next : deadline;

	return (hears ? doorbell_wait(channel->rung, until) : thread_sleep_until(until)) != THREAD_E_HOLDS;
}

/* Says first that it wants to be rung, and then looks once more: what was sent before that rang nobody. */
static enum bh_end_result look_once_more(struct channel *channel, const struct request *request)
{
	bh_end_wants_ring(channel->end, true);
	return request->attempt(channel, request);
}

/* Something was sent, or given back. Returns BH_END_OK, for the last call of whoever tells. */
static SELDOM enum bh_end_result tell(const struct channel *channel)
{
	if (bh_end_is_wanted(channel->end))
		doorbell_tell(channel->told);
	return BH_END_OK;
}

static ALWAYS void tell_if_granted(const struct channel *channel)
{
	if (__builtin_expect(channel->told != NULL, 0))
		tell(channel);
}

/* An attempt came to this. Makes further ones, until one comes to something else than BH_END_AGAIN, or the deadline has passed. */
static enum bh_end_result go_on(struct channel *channel, enum bh_end_result result, struct request request, uint64_t deadline)
{
	if (result == BH_END_AGAIN && channel->rung && deadline)
		result = look_once_more(channel, &request);
	while (result == BH_END_AGAIN && arch_counter() < deadline) {
		if (!sleep_until_maybe(channel, deadline)) {
			result = BH_END_INVALID;
			break;
		}
		result = request.attempt(channel, &request);
	}
	if (channel->rung && deadline)
		bh_end_wants_ring(channel->end, false);
	if (result == BH_END_NEW)
		channel->flags = ALONE;
	return result;
}

/* ---- In place: the first attempt is inlined, further ones are not ------------------------------------------------------------ */

/* As bh_ring_reserve; but what the caller gave has an address anyway, so there is nothing to keep in registers. Likewise `peek`. */
static enum bh_end_result reserve(struct channel *channel, const struct request *request)
{
	return bh_ring_reserve_usual(channel->end, request->slot) ? BH_END_OK : bh_ring_reserve_slowly(channel->end, request->slot);
}

static SELDOM enum bh_end_result wait_for_slot(struct channel *channel, enum bh_end_result result, void **data, uint64_t deadline)
{
	return go_on(channel, result, (struct request){ .attempt = reserve, .slot = data }, deadline);
}

static SELDOM enum bh_end_result go_on_reserving(struct channel *channel, void **data, uint64_t deadline)
{
	const enum bh_end_result result = bh_ring_reserve_slowly(channel->end, data);

	return result == BH_END_OK ? result : wait_for_slot(channel, result, data, deadline);
}

enum bh_end_result channel_reserve(struct channel *channel, void **data, uint64_t deadline)
{
	return bh_ring_reserve_usual(channel->end, data) ? BH_END_OK : go_on_reserving(channel, data, deadline);
}

/* The next message is one of a transaction that goes on, or it is alone. Returns BH_END_OK, for the last call of its caller. */
static ALWAYS enum bh_end_result sent(struct channel *channel)
{
	if (__builtin_expect(channel->flags != ALONE, 0))
		channel->flags = channel->flags & BH_CHANNEL_END ? ALONE : 0;
	return __builtin_expect(channel->told != NULL, 0) ? tell(channel) : BH_END_OK;
}

static SELDOM enum bh_end_result commit_slowly(struct channel *channel, uint32_t length)
{
	const enum bh_end_result result = bh_ring_send_slowly(channel->end, length, channel->flags);

	return result == BH_END_OK ? sent(channel) : result;
}

enum bh_end_result channel_commit(struct channel *channel, uint32_t length)
{
	return bh_ring_send_usual(channel->end, length, channel->flags) ? sent(channel) : commit_slowly(channel, length);
}

static SELDOM enum bh_end_result peek_slowly(struct channel *channel, struct bh_message *message)
{
	return bh_ring_peek_slowly(channel->end, message);
}

static enum bh_end_result peek(struct channel *channel, const struct request *request)
{
	return bh_ring_peek_usual(channel->end, request->message) ? BH_END_OK : peek_slowly(channel, request->message);
}

static SELDOM enum bh_end_result wait_for_message(struct channel *channel, enum bh_end_result result, struct bh_message *message,
						  uint64_t deadline)
{
	return go_on(channel, result, (struct request){ .attempt = peek, .message = message }, deadline);
}

static SELDOM enum bh_end_result go_on_peeking(struct channel *channel, struct bh_message *message, uint64_t deadline)
{
	const enum bh_end_result result = peek_slowly(channel, message);

	return result == BH_END_OK ? result : wait_for_message(channel, result, message, deadline);
}

enum bh_end_result channel_peek(struct channel *channel, struct bh_message *message, uint64_t deadline)
{
	return bh_ring_peek_usual(channel->end, message) ? BH_END_OK : go_on_peeking(channel, message, deadline);
}

/* What is not usual is the last call of each way, so that the usual way needs no frame. */
enum bh_end_result channel_release(struct channel *channel)
{
	if (__builtin_expect(!bh_ring_is_shown(channel->end), 0))
		return bh_ring_none_shown(channel->end);
	bh_ring_release(channel->end);
	return __builtin_expect(channel->told != NULL, 0) ? tell(channel) : BH_END_OK;
}

/* ---- By a copy: likewise, but for what is no ring ------------------------------------------------------------------------------ */

static SELDOM enum bh_end_result send_otherwise(struct channel *channel, const void *data, uint32_t length)
{
	switch (channel->end->role) {
	case BH_END_MAILBOX:
		return bh_mailbox_send(channel->end, data, length, channel->flags);
	case BH_END_LATEST_WRITER:
		return bh_latest_write(channel->end, data, length);
	case BH_END_RING_SENDER:
		return BH_END_SIZE;
	default:
		return BH_END_INVALID;
	}
}

static ALWAYS enum bh_end_result send_once(struct channel *channel, const void *data, uint32_t length)
{
	struct bh_end *end = channel->end;
	enum bh_end_result result;
	void *slot;

	if (BH_ONE_BRANCH((end->role != BH_END_RING_SENDER) | (length > end->slot_bytes)))
		return send_otherwise(channel, data, length);
	result = bh_ring_reserve(end, &slot);
	if (__builtin_expect(result != BH_END_OK, 0))
		return result;
	bh_copy_to_slot(slot, data, length);
	return bh_ring_send(end, length, channel->flags);
}

static enum bh_end_result send_again(struct channel *channel, const struct request *request)
{
	return send_once(channel, request->data, request->length);
}

static SELDOM enum bh_end_result go_on_sending(struct channel *channel, enum bh_end_result result, const void *data, uint32_t length,
					       uint64_t deadline)
{
	result = go_on(channel, result, (struct request){ .attempt = send_again, .data = data, .length = length }, deadline);
	if (result == BH_END_OK)
		sent(channel);
	return result;
}

enum bh_end_result channel_send(struct channel *channel, const void *data, uint32_t length, uint64_t deadline)
{
	const enum bh_end_result result = send_once(channel, data, length);

	if (__builtin_expect(result != BH_END_OK, 0))
		return go_on_sending(channel, result, data, length, deadline);
	sent(channel);
	return result;
}

static SELDOM enum bh_end_result receive_otherwise(struct channel *channel, void *buffer, uint32_t capacity, struct bh_message *message)
{
	switch (channel->end->role) {
	case BH_END_MAILBOX:
		return bh_mailbox_receive(channel->end, buffer, capacity, message);
	case BH_END_LATEST_READER:
		return bh_latest_read(channel->end, buffer, capacity, message);
	default:
		return BH_END_INVALID;
	}
}

static ALWAYS enum bh_end_result receive_once(struct channel *channel, void *buffer, uint32_t capacity, struct bh_message *message)
{
	struct bh_end *end = channel->end;
	struct bh_message found = { .data = NULL };
	enum bh_end_result result;

	if (__builtin_expect(end->role != BH_END_RING_READER, 0))
		return receive_otherwise(channel, buffer, capacity, message);
	result = bh_ring_peek(end, &found);
	if (__builtin_expect(result != BH_END_OK && result != BH_END_CHECK, 0))
		return result;
	message->data = buffer;
	message->length = found.length;
	message->flags = found.flags;
	message->number = found.number;
	if (__builtin_expect(result == BH_END_OK, 1)) {
		if (__builtin_expect(found.length > capacity, 0))
			return BH_END_SIZE;
		bh_copy_from_slot(buffer, found.data, found.length);
	}
	bh_ring_release(end);
	return result;
}

static enum bh_end_result receive_again(struct channel *channel, const struct request *request)
{
	return receive_once(channel, request->buffer, request->length, request->message);
}

static SELDOM enum bh_end_result go_on_receiving(struct channel *channel, enum bh_end_result result, void *buffer, uint32_t capacity,
						 struct bh_message *message, uint64_t deadline)
{
	const struct request request = { .attempt = receive_again, .buffer = buffer, .length = capacity, .message = message };

	result = go_on(channel, result, request, deadline);
	if (result == BH_END_OK || result == BH_END_CHECK)
		tell_if_granted(channel);
	return result;
}

enum bh_end_result channel_receive(struct channel *channel, void *buffer, uint32_t capacity, struct bh_message *message, uint64_t deadline)
{
	const enum bh_end_result result = receive_once(channel, buffer, capacity, message);

	if (__builtin_expect(result != BH_END_OK, 0))
		return go_on_receiving(channel, result, buffer, capacity, message, deadline);
	tell_if_granted(channel);
	return result;
}

/* ---- Opening -------------------------------------------------------------------------------------------------------------------- */

/* A ring wakes one thread: further readers of a latest value look. */
static bool is_first(const struct bh_end *end)
{
	return end->role != BH_END_LATEST_READER || end->reading == end->own->reading;
}

enum bh_end_result channel_open(struct channel *channel, const char *name, uint64_t poll)
{
	struct bh_end *end = channel_take(name);
	struct doorbell *bell;

	if (!end)
		return BH_END_INVALID;
	*channel = (struct channel){ .end = end, .poll = poll ? poll : thread_running()->on->vcpu.order, .flags = ALONE };
	bell = doorbell_find(name);
	if (bell && doorbell_is_heard(bell) && is_first(end))
		channel->rung = bell;
	if (bell && doorbell_gap_ns(bell) && end->role != BH_END_LATEST_READER) /* which gives nothing back that anybody waits for */
		channel->told = bell;
	return BH_END_OK;
}

void channel_close(struct channel *channel)
{
	if (channel->rung) /* of several readers this one alone: nobody is left who waits for a ring */
		__atomic_store_n(&channel->end->own->waits, 0, __ATOMIC_RELAXED);
	channel_give(channel->end);
}

/* ---- Transactions ------------------------------------------------------------------------------------------------------------ */

enum bh_end_result channel_begin(struct channel *channel)
{
	if (channel->flags != ALONE || channel->end->role == BH_END_LATEST_WRITER)
		return BH_END_INVALID;
	channel->flags = BH_CHANNEL_START;
	return BH_END_OK;
}

enum bh_end_result channel_end(struct channel *channel)
{
	if (channel->flags & BH_CHANNEL_END)
		return BH_END_INVALID;
	channel->flags |= BH_CHANNEL_END;
	return BH_END_OK;
}
