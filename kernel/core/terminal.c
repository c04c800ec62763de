/* SPDX-License-Identifier: Apache-2.0 */
/* Characters in slots of two rings (terminal.h). */
#include "kernel/core/terminal.h"

#include "abi/channel_wait.h"
#include "kernel/core/channels.h"
#include "kernel/core/cpu.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/info.h"
#include "kernel/core/lock.h"
#include "kernel/core/text.h"

static struct bh_end *out, *in;
static struct doorbell *bell; /* of `out`; NULL: its reader looks by itself */
static uint8_t *slot;         /* that is being filled; NULL: none */
static uint32_t filled;
static char last = '\n'; /* that was put there */
static bool to_ring;     /* by the first core, for another one: its timer has the ring that comes too soon */
static struct lock lock; /* of all of these but `in` */

enum { LONGEST = 64, ROOM = 3 /* slots: for how many lines, and the last of them */ };

/* What found no room in this connection. */
static struct missed {
	bool some;
	uint64_t lines;       /* that have ended */
	char begun[LONGEST];  /* the one that has not, such as a prompt */
	uint32_t begun_bytes; /* of it */
} missed;

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

/* A connection that has begun has nothing of the one before it, so the slot is a new one, and nothing was missed. */
static bool has_slot(void)
{
	void *data = NULL;
	enum bh_end_result result = slot ? BH_END_OK : bh_ring_reserve(out, &data);

	if (result == BH_END_NEW) {
		missed.some = false;
		result = bh_ring_reserve(out, &data);
	}
	if (data && result == BH_END_OK) {
		slot = data;
		filled = 0;
	}
	return result == BH_END_OK;
}

static void ring(void)
{
	if (cpu_slot())
		to_ring = true;
	else
		doorbell_tell(bell);
}

/* If its connection has ended, it is lost with that. */
static void send(void)
{
	if (!slot || !filled)
		return;
	if (bh_ring_send(out, filled, BH_CHANNEL_START | BH_CHANNEL_END) == BH_END_OK && bell && bh_end_is_wanted(out))
		ring();
	slot = NULL;
}

/* Where nobody is, nobody misses anything. */
static void miss(char c)
{
	if (!out->connected)
		return;
	if (!missed.some)
		missed = (struct missed){ .some = true };
	if (c == '\n') {
		missed.lines++;
		missed.begun_bytes = 0;
	} else if (c != '\r' && missed.begun_bytes < LONGEST) {
		missed.begun[missed.begun_bytes++] = c;
	}
}

static void put_in_slot(char c)
{
	if (!has_slot()) {
		miss(c);
		return;
	}
	bh_copy_to_slot(slot + filled, &c, 1);
	last = c;
	if (++filled == out->slot_bytes || c == '\n')
		send();
}

static void put_missed(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text_format(put_in_slot, format, arguments);
	va_end(arguments);
}

static bool has_room_for_missed(void)
{
	const uint32_t least = out->slots < ROOM ? out->slots : ROOM;
	const enum bh_end_result result = has_slot() ? bh_end_read_taken(out) : BH_END_AGAIN;

	if (result == BH_END_NEW) { /* both were of the connection that has ended */
		slot = NULL;
		missed.some = false;
	}
	return result == BH_END_OK && out->full_at - out->written >= least;
}

/* Says what was missed as soon as there is room for that. Returns whether nothing is any more. */
static bool has_caught_up(void)
{
	struct missed was;

	if (!missed.some)
		return true;
	if (!has_room_for_missed())
		return false;
	was = missed;
	missed.some = false;
	if (was.some && was.lines)
		put_missed("%s[lines lost: %ju]\r\n", last == '\n' ? "" : "\r\n", was.lines);
	for (uint32_t n = 0; was.some && n < was.begun_bytes; n++)
		put_in_slot(was.begun[n]);
	return !missed.some;
}

static void put(char c)
{
	if (has_caught_up())
		put_in_slot(c);
	else
		miss(c);
}

bool terminal_begins_line(void)
{
	bool enabled, has_room;

	if (!out)
		return false;
	enabled = lock_take(&lock);
	has_room = has_caught_up() && has_slot();
	if (!has_room)
		miss('\n');
	lock_give(&lock, enabled);
	return has_room;
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

/* What was left to the first core, where this is asked whenever it wakes. */
static void catch_up(void)
{
	bool enabled = lock_take(&lock);

	if (out && missed.some && has_caught_up())
		send();
	if (to_ring)
		doorbell_tell(bell);
	to_ring = false;
	lock_give(&lock, enabled);
}

/* As many messages as there are slots: who types on and on keeps nobody here. In a new connection nothing was sent yet. */
void terminal_read(void (*received)(char c))
{
	struct bh_message message;

	catch_up();
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
