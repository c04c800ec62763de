/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of channels by name (channels.h). */
#include "kernel/core/channels.h"

#include "kernel/core/lock.h"

enum { MOST = 16 /* BH_MAX_CHANNELS */, MOST_READERS = MOST * BH_CHANNEL_MOST_READERS };

/*
 * Attached when they are first asked for, and then kept: what an end has sent and taken is known to it alone. One that is opened on request
 * is attached while it is open.
 */
static struct held {
	const struct bh_grant *grant;
	struct bh_end end;
	bool is_attached;
	uint32_t taken; /* by programs: bit 0 `end`, and of a latest value bit n reader n */
} held[MOST];
static unsigned held_count;
static struct reader {
	struct held *of; /* NULL: of none */
	uint32_t number;
	struct bh_end end;
} readers[MOST_READERS];
static struct lock lock; /* of all of these, but for the ends that are taken */

static bool is_on_request(const struct bh_grant *grant)
{
	return grant->flags & BH_CHANNEL_ON_REQUEST;
}

static int64_t turn(const struct bh_grant *grant, bool open)
{
	return info_call_monitor(open ? BH_CALL_OPEN : BH_CALL_CLOSE, channel_number((const char *)grant->name), 0);
}

static bool attach(struct held *one)
{
	const struct bh_grant *grant = one->grant;

	if (!one->is_attached)
		one->is_attached = bh_end_attach(&one->end, (void *)(uintptr_t)grant->gpa, grant->size, grant->line, grant->vector) ==
				   BH_END_OK;
	return one->is_attached;
}

/* Attached, unless it is closed. */
static struct held *held_of(const struct bh_grant *grant)
{
	struct held *one = held;

	while (one < held + held_count && one->grant != grant)
		one++;
	if (one == held + MOST)
		return NULL;
	if (one == held + held_count) {
		one->grant = grant;
		held_count++;
	}
	return is_on_request(grant) || attach(one) ? one : NULL;
}

/* NULL: there is none. */
static struct held *find(const char *name)
{
	const struct bh_grant *grant = info_find(BH_GRANT_CHANNEL, name);

	return grant ? held_of(grant) : NULL;
}

/* Opened, it is attached, and if it cannot be, closed again. Requires: `lock`. */
static int64_t set_open(struct held *one, bool open)
{
	int64_t result;

	if (one->is_attached == open)
		return BH_OK;
	one->is_attached = false; /* before it is closed */
	result = turn(one->grant, open);
	if (result != BH_OK || !open || attach(one))
		return result;
	(void)turn(one->grant, false);
	return BH_E_UNKNOWN;
}

/* The next reader of a latest value. NULL: there is none left. Requires: `lock`. */
static struct bh_end *take_further(struct held *one)
{
	const uint32_t number = (uint32_t)__builtin_ctz(~one->taken);
	const struct bh_grant *grant = one->grant;
	struct reader *reader = readers;

	if (one->end.role != BH_END_LATEST_READER)
		return NULL;
	while (reader->of) /* there is a place for each that there can be */
		reader++;
	if (bh_end_attach_reader(&reader->end, (void *)(uintptr_t)grant->gpa, grant->size, grant->line, number) != BH_END_OK)
		return NULL;
	reader->of = one;
	reader->number = number;
	one->taken |= 1U << number;
	return &reader->end;
}

struct bh_end *channel_take(const char *name)
{
	bool enabled = lock_take(&lock);
	struct held *one = find(name);
	struct bh_end *end = NULL;

	if (one && set_open(one, true) == BH_OK) {
		end = one->taken & 1 ? take_further(one) : &one->end;
		one->taken |= 1;
	}
	lock_give(&lock, enabled);
	return end;
}

/* Whose it is. Requires: `lock`. */
static struct held *give(struct bh_end *end)
{
	for (struct reader *reader = readers; reader < readers + MOST_READERS; reader++) {
		struct held *one = reader->of;

		if (&reader->end != end)
			continue;
		reader->of = NULL;
		one->taken &= ~(1U << reader->number);
		return one;
	}
	struct held *one = (struct held *)((char *)end - offsetof(struct held, end));

	one->taken &= ~1U;
	return one;
}

void channel_give(struct bh_end *end)
{
	bool enabled = lock_take(&lock);
	struct held *one = give(end);

	if (is_on_request(one->grant) && !one->taken)
		(void)set_open(one, false); /* a monitor that has opened it closes it */
	lock_give(&lock, enabled);
}

int64_t channel_set_open(const char *name, bool open)
{
	bool enabled = lock_take(&lock);
	struct held *one = find(name);
	int64_t result = one && !one->taken && is_on_request(one->grant) ? set_open(one, open) : BH_E_DENIED;

	lock_give(&lock, enabled);
	return result;
}

struct bh_end *channel_untaken(const char *name)
{
	bool enabled = lock_take(&lock);
	struct held *one = find(name);

	lock_give(&lock, enabled);
	return one && one->is_attached && !(one->taken & 1) ? &one->end : NULL;
}

const struct bh_end *channel_of(const struct bh_grant *grant)
{
	bool enabled = lock_take(&lock);
	const struct held *one = grant->kind == BH_GRANT_CHANNEL ? held_of(grant) : NULL;

	lock_give(&lock, enabled);
	return one && one->is_attached ? &one->end : NULL;
}
