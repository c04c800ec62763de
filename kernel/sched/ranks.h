/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time from which each rank may run: rank 0 comes before all others. A tree of minima over all ranks answers both questions of a
 * decision in one descent: which is the first rank that may run now, and when may one before it run? So nobody is interrupted by the
 * replenishment of whom it comes before, and nothing has to be moved from a queue to another when time passes.
 *
 *                3                earliest[1]
 *       7     9     3    NEVER     earliest[4] .. [7]: ranks 0 .. 3
 *
 * At time 8 rank 0 runs. At 5 rank 2 does, until 7 at the latest. The cost of every call grows with the logarithm of the number of ranks.
 *
 * A node's four are at four times its place; where the number of ranks is no power of four, the root has two, at 2 and 3.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define RANKS_NEVER UINT64_MAX

struct ranks {
	uint64_t *earliest; /* 2 * leaves words, of which [0], and every second level, is not used */
	unsigned leaves;    /* ranks there is room for: a power of two */
	unsigned first;     /* below the root, or itself if there is one rank: ranks.c's */
};

static inline uint64_t ranks_lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Nobody may run. Before anything else; `earliest` and `leaves` are the caller's. */
void ranks_clear(struct ranks *ranks);

/* Whether nobody may run, however long one waits. */
static inline bool ranks_are_empty(const struct ranks *ranks)
{
	return ranks->earliest[1] == RANKS_NEVER;
}

/* `rank` may run from `at` on; RANKS_NEVER: it may not. Requires: rank < leaves. */
void ranks_set(struct ranks *ranks, unsigned rank, uint64_t at);

/*
 * Returns the first rank that may run at `limit`, or `leaves` if there is none, and in *next the earliest time from which on one before it
 * may: later than `limit`, and RANKS_NEVER if there is none.
 */
static inline unsigned ranks_first(const struct ranks *ranks, uint64_t limit, uint64_t *next)
{
	const uint64_t *earliest = ranks->earliest;
	uint64_t least = RANKS_NEVER, at = earliest[1];
	unsigned node = ranks->first;

	if (at > limit) {
		*next = at;
		return ranks->leaves;
	}
	for (;; node *= 4) {
		for (; (at = earliest[node]) > limit; node++)
			least = ranks_lesser(least, at);
		if (node >= ranks->leaves)
			break;
	}
	*next = least;
	return node - ranks->leaves;
}
