/* SPDX-License-Identifier: Apache-2.0 */
/* Characters in slots of two rings (terminal.h). */
#include "kernel/core/terminal.h"

#include "abi/channel_wait.h"
#include "kernel/core/channels.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/info.h"
#include "kernel/core/lock.h"

static struct bh_end *out, *in;
static struct doorbell *bell; /* of `out`; NULL: its reader looks by itself */
static uint8_t *slot;         /* that is being filled; NULL: none */
static uint32_t filled;
static struct lock lock; /* of all of these but `in` */

void terminal_init(void)
{
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++) {
		const struct bh_grant *grant = &info->grants[n];
		struct bh_end *end;

		if (grant->kind != BH_GRANT_CHANNEL || !(grant->flags & BH_CHANNEL_TERMINAL))
			continue;
		end = channel_take((const char *)grant->name);
		if (end && end->role == BH_END_RING_SENDER) {
			out = end;
			bell = doorbell_find((const char *)grant->name);
		}
		if (end && end->role == BH_END_RING_READER)
			in = end;
	}
}

bool terminal_exists(void)
{
	return out != NULL;
}

/* A connection that has begun has nothing of the one before it, so the slot is a new one. */
static bool has_slot(void)
{
	void *data = NULL;
	enum bh_end_result result = slot ? BH_END_OK : bh_ring_reserve(out, &data);

	if (result == BH_END_NEW)
		result = bh_ring_reserve(out, &data);
	if (data && result == BH_END_OK) {
		slot = data;
		filled = 0;
	}
	return result == BH_END_OK;
}

/* If its connection has ended, it is lost with that. */
static void send(void)
{
	if (!slot || !filled)
		return;
	if (bh_ring_send(out, filled, BH_CHANNEL_START | BH_CHANNEL_END) == BH_END_OK && bell && bh_end_is_wanted(out))
		doorbell_tell(bell);
	slot = NULL;
}

static void put(char c)
{
	if (!has_slot())
		return;
	bh_copy_to_slot(slot + filled, &c, 1);
	if (++filled == out->slot_bytes || c == '\n')
		send();
}

void terminal_put(char c)
{
	bool enabled;

	if (!out)
		return;
	enabled = lock_take(&lock);
	if (c == '\n')
		put('\r');
	put(c);
	lock_give(&lock, enabled);
}

void terminal_flush(void)
{
	bool enabled = lock_take(&lock);

	if (out)
		send();
	lock_give(&lock, enabled);
}

static void hand_over(const struct bh_message *message, void (*received)(char c))
{
	for (uint32_t n = 0; n < message->length; n++) {
		char c;

		bh_copy_from_slot(&c, (const uint8_t *)message->data + n, 1);
		received(c);
	}
}

/* As many messages as there are slots: who types on and on keeps nobody here. In a new connection nothing was sent yet. */
void terminal_read(void (*received)(char c))
{
	struct bh_message message;

	if (!in)
		return;
	bh_end_wants_ring(in, true);
	for (uint32_t n = 0; n < in->slots; n++) {
		enum bh_end_result result = bh_ring_peek(in, &message);

		if (result == BH_END_OK)
			hand_over(&message, received);
		if (result == BH_END_OK || result == BH_END_CHECK)
			(void)bh_ring_release(in);
		else
			break;
	}
}
