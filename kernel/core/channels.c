/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of channels by name (channels.h). */
#include "kernel/core/channels.h"

#include "kernel/core/info.h"
#include "kernel/core/lock.h"

enum { MOST = 16 /* BH_MAX_CHANNELS */ };

/* Attached when they are first asked for, and then kept: what an end has sent and taken is known to it alone. */
static struct held {
	const struct bh_grant *grant;
	struct bh_end end;
	bool is_taken; /* by a program */
} held[MOST];
static unsigned held_count;
static struct lock lock; /* of all of these, but for the ends that are taken */

static struct held *hold(const struct bh_grant *grant)
{
	struct held *one = &held[held_count];

	if (held_count == MOST)
		return NULL;
	one->grant = grant;
	if (bh_end_attach(&one->end, (void *)(uintptr_t)grant->gpa, grant->size, grant->line, grant->vector) != BH_END_OK)
		return NULL;
	held_count++;
	return one;
}

static struct held *held_of(const struct bh_grant *grant)
{
	for (unsigned n = 0; n < held_count; n++)
		if (held[n].grant == grant)
			return &held[n];
	return hold(grant);
}

/* NULL: there is none, or a program has it. */
static struct held *find(const char *name)
{
	const struct bh_grant *grant = info_find(BH_GRANT_CHANNEL, name);
	struct held *one = grant ? held_of(grant) : NULL;

	return one && !one->is_taken ? one : NULL;
}

struct bh_end *channel_take(const char *name)
{
	bool enabled = lock_take(&lock);
	struct held *one = find(name);

	if (one)
		one->is_taken = true;
	lock_give(&lock, enabled);
	return one ? &one->end : NULL;
}

struct bh_end *channel_untaken(const char *name)
{
	bool enabled = lock_take(&lock);
	struct held *one = find(name);

	lock_give(&lock, enabled);
	return one ? &one->end : NULL;
}

const struct bh_end *channel_of(const struct bh_grant *grant)
{
	bool enabled = lock_take(&lock);
	const struct held *one = grant->kind == BH_GRANT_CHANNEL ? held_of(grant) : NULL;

	lock_give(&lock, enabled);
	return one ? &one->end : NULL;
}
