/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on channels that wait (channel_calls.h). */
#include "kernel/core/channel_calls.h"

#include "kernel/core/channels.h"
#include "kernel/core/clock.h"
#include "kernel/core/thread.h"

#define ALONE (BH_CHANNEL_START | BH_CHANNEL_END)

/* What a call is given, so that it can be tried again. */
struct request {
	void **slot;
	const void *data;
	void *buffer;
	uint32_t length;
	struct bh_message *message;
};
typedef enum bh_end_result attempt_t(struct channel *channel, const struct request *request);

/* ---- Waiting ---------------------------------------------------------------------------------------------------------------- */

/* The one place where a thread sleeps until there may be something. Returns false if it must not. */
static bool sleep_until_maybe(const struct channel *channel, uint64_t deadline)
{
	const uint64_t next = arch_counter() + channel->poll;

	return thread_sleep_until(next < deadline ? next : deadline) == THREAD_OK;
}

/* An attempt came to this. Makes further ones, until one comes to something else than BH_END_AGAIN, or the deadline has passed. */
static __attribute__((noinline, cold)) enum bh_end_result go_on(struct channel *channel, enum bh_end_result result, attempt_t *attempt,
								const struct request *request, uint64_t deadline)
{
	while (result == BH_END_AGAIN && arch_counter() < deadline) {
		if (!sleep_until_maybe(channel, deadline))
			return BH_END_INVALID;
		result = attempt(channel, request);
	}
	if (result == BH_END_NEW)
		channel->flags = ALONE;
	return result;
}

/* ---- What is tried ---------------------------------------------------------------------------------------------------------- */

static enum bh_end_result reserve(struct channel *channel, const struct request *request)
{
	return bh_ring_reserve(channel->end, request->slot);
}

static enum bh_end_result peek(struct channel *channel, const struct request *request)
{
	return bh_ring_peek(channel->end, request->message);
}

/* The next message is one of a transaction that goes on, or it is alone. */
static void sent(struct channel *channel)
{
	channel->flags = channel->flags & BH_CHANNEL_END ? ALONE : 0;
}

static enum bh_end_result send_in_ring(struct channel *channel, const struct request *request)
{
	enum bh_end_result result;
	void *slot;

	if (__builtin_expect(request->length > channel->end->slot_bytes, 0))
		return channel->end->role == BH_END_RING_SENDER ? BH_END_SIZE : BH_END_INVALID;
	result = bh_ring_reserve(channel->end, &slot);
	if (__builtin_expect(result != BH_END_OK, 0))
		return result;
	bh_copy_to_slot(slot, request->data, request->length);
	return bh_ring_send(channel->end, request->length, channel->flags);
}

static enum bh_end_result send(struct channel *channel, const struct request *request)
{
	switch (channel->end->role) {
	case BH_END_MAILBOX:
		return bh_mailbox_send(channel->end, request->data, request->length, channel->flags);
	case BH_END_LATEST_WRITER:
		return bh_latest_write(channel->end, request->data, request->length);
	default:
		return send_in_ring(channel, request);
	}
}

static enum bh_end_result receive_from_ring(struct channel *channel, const struct request *request)
{
	struct bh_message found;
	enum bh_end_result result = bh_ring_peek(channel->end, &found);

	if (__builtin_expect(result == BH_END_OK, 1)) {
		if (__builtin_expect(found.length <= request->length, 1))
			bh_copy_from_slot(request->buffer, found.data, found.length);
		else
			result = BH_END_SIZE;
	} else if (result != BH_END_CHECK) {
		return result;
	}
	found.data = request->buffer;
	*request->message = found;
	if (__builtin_expect(result != BH_END_SIZE, 1))
		bh_ring_release(channel->end);
	return result;
}

static enum bh_end_result receive(struct channel *channel, const struct request *request)
{
	switch (channel->end->role) {
	case BH_END_MAILBOX:
		return bh_mailbox_receive(channel->end, request->buffer, request->length, request->message);
	case BH_END_LATEST_READER:
		return bh_latest_read(channel->end, request->buffer, request->length, request->message);
	default:
		return receive_from_ring(channel, request);
	}
}

/* ---- Calls ------------------------------------------------------------------------------------------------------------------ */

enum bh_end_result channel_open(struct channel *channel, const char *name, uint64_t poll)
{
	struct bh_end *end = channel_take(name);

	if (!end)
		return BH_END_INVALID;
	*channel = (struct channel){ .end = end, .poll = poll ? poll : thread_running()->on->vcpu.order, .flags = ALONE };
	return BH_END_OK;
}

enum bh_end_result channel_reserve(struct channel *channel, void **data, uint64_t deadline)
{
	const enum bh_end_result result = bh_ring_reserve(channel->end, data);

	if (__builtin_expect(result == BH_END_OK, 1))
		return result;
	return go_on(channel, result, reserve, &(struct request){ .slot = data }, deadline);
}

enum bh_end_result channel_commit(struct channel *channel, uint32_t length)
{
	const enum bh_end_result result = bh_ring_send(channel->end, length, channel->flags);

	if (result == BH_END_OK)
		sent(channel);
	return result;
}

enum bh_end_result channel_peek(struct channel *channel, struct bh_message *message, uint64_t deadline)
{
	const enum bh_end_result result = bh_ring_peek(channel->end, message);

	if (__builtin_expect(result == BH_END_OK, 1))
		return result;
	return go_on(channel, result, peek, &(struct request){ .message = message }, deadline);
}

enum bh_end_result channel_release(struct channel *channel)
{
	return bh_ring_release(channel->end);
}

enum bh_end_result channel_send(struct channel *channel, const void *data, uint32_t length, uint64_t deadline)
{
	const struct request request = { .data = data, .length = length };
	enum bh_end_result result = send(channel, &request);

	if (__builtin_expect(result != BH_END_OK, 0))
		result = go_on(channel, result, send, &request, deadline);
	if (result == BH_END_OK)
		sent(channel);
	return result;
}

enum bh_end_result channel_receive(struct channel *channel, void *buffer, uint32_t capacity, struct bh_message *message, uint64_t deadline)
{
	const struct request request = { .buffer = buffer, .length = capacity, .message = message };
	const enum bh_end_result result = receive(channel, &request);

	if (__builtin_expect(result == BH_END_OK, 1))
		return result;
	return go_on(channel, result, receive, &request, deadline);
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
