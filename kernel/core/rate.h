/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often a line may interrupt: once every `distance` ticks, and once more at any time. Who comes beyond that is served, and then masked
 * at the device until it may come again: so in a span t there are at most t / distance + 1 of them, rounded up (docs/admission.md).
 */
#pragma once
#include <stdint.h>

struct rate_limit {
	uint64_t distance; /* 0: no limit */
	uint64_t paid;     /* all that came so far is covered up to then */
	uint64_t count;    /* interrupts */
	uint64_t masked;   /* how often that had to be */
};

/* An interrupt has come. Returns 0, or until when the line has to be masked. */
static inline uint64_t rate_limit_note(struct rate_limit *limit, uint64_t now)
{
	limit->count++;
	if (!limit->distance)
		return 0;
	limit->paid = (limit->paid > now ? limit->paid : now) + limit->distance;
	if (limit->paid <= now + limit->distance)
		return 0;
	limit->masked++;
	return limit->paid - limit->distance;
}
