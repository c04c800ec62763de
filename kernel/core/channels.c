/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of channels by name (channels.h). */
#include "kernel/core/channels.h"

#include "kernel/core/lock.h"

enum { MOST = 16 /* BH_MAX_CHANNELS */ };

/*
 * Attached when they are first asked for, and then kept: what an end has sent and taken is known to it alone. One that is opened on request
 * is attached while it is open.
 */
static struct held {
	const struct bh_grant *grant;
	struct bh_end end;
	bool is_attached;
	bool is_taken; /* by a program */
} held[MOST];
static unsigned held_count;
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

/* NULL: there is none, or a program has it. */
static struct held *find(const char *name)
{
	const struct bh_grant *grant = info_find(BH_GRANT_CHANNEL, name);
	struct held *one = grant ? held_of(grant) : NULL;

	return one && !one->is_taken ? one : NULL;
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

struct bh_end *channel_take(const char *name)
{
	bool enabled = lock_take(&lock);
	struct held *one = find(name);

	if (one && set_open(one, true) != BH_OK)
		one = NULL;
	if (one)
		one->is_taken = true;
	lock_give(&lock, enabled);
	return one ? &one->end : NULL;
}

void channel_give(struct bh_end *end)
{
	bool enabled = lock_take(&lock);
	struct held *one = (struct held *)((char *)end - offsetof(struct held, end));

	if (is_on_request(one->grant))
		(void)set_open(one, false); /* a monitor that has opened it closes it */
	one->is_taken = false;
	lock_give(&lock, enabled);
}

int64_t channel_set_open(const char *name, bool open)
{
	bool enabled = lock_take(&lock);
	struct held *one = find(name);
	int64_t result = one && is_on_request(one->grant) ? set_open(one, open) : BH_E_DENIED;

	lock_give(&lock, enabled);
	return result;
}

struct bh_end *channel_untaken(const char *name)
{
	bool enabled = lock_take(&lock);
	struct held *one = find(name);

	lock_give(&lock, enabled);
	return one && one->is_attached ? &one->end : NULL;
}

const struct bh_end *channel_of(const struct bh_grant *grant)
{
	bool enabled = lock_take(&lock);
	const struct held *one = grant->kind == BH_GRANT_CHANNEL ? held_of(grant) : NULL;

	lock_give(&lock, enabled);
	return one && one->is_attached ? &one->end : NULL;
}
