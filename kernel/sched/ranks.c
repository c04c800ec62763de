/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of minima (ranks.h). */
#include "kernel/sched/ranks.h"

#include <stdbool.h>

/* Whether the root has two nodes below it, and not four. */
static bool begins_with_two(unsigned leaves)
{
	return __builtin_ctz(leaves) & 1;
}

void ranks_clear(struct ranks *ranks)
{
	ranks->first = begins_with_two(ranks->leaves) ? 2 : ranks->leaves > 1 ? 4 : 1;
	for (unsigned node = 1; node < 2 * ranks->leaves; node++)
		ranks->earliest[node] = RANKS_NEVER;
}

/*
 * Goes up only as far as minima change: it ends at the first one that was another child's before and is now. `before` can stay the leaf's
 * old time, because a node that was not its parent's minimum has no leaf that was.
 */
void ranks_set(struct ranks *ranks, unsigned rank, uint64_t at)
{
	uint64_t *earliest = ranks->earliest;
	unsigned node = ranks->leaves + rank;
	const uint64_t before = earliest[node];

	earliest[node] = at;
	for (; node > 3; node /= 4) {
		const uint64_t *four = &earliest[node & ~3U], least = earliest[node / 4];

		if (at >= least) {
			if (before > least)
				return;
			at = ranks_lesser(ranks_lesser(four[0], four[1]), ranks_lesser(four[2], four[3]));
			if (at == least)
				return;
		}
		earliest[node / 4] = at;
	}
	if (node > 1)
		earliest[1] = ranks_lesser(earliest[2], earliest[3]);
}
