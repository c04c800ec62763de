/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of minima (ranks.h). */
#include "kernel/sched/ranks.h"

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void ranks_clear(struct ranks *ranks)
{
	for (unsigned node = 1; node < 2 * ranks->leaves; node++)
		ranks->earliest[node] = RANKS_NEVER;
}

void ranks_set(struct ranks *ranks, unsigned rank, uint64_t at)
{
	uint64_t *earliest = ranks->earliest;
	unsigned node = ranks->leaves + rank;

	earliest[node] = at;
	while (node > 1) {
		uint64_t least = lesser(earliest[node], earliest[node ^ 1]);

		node /= 2;
		if (earliest[node] == least)
			break;
		earliest[node] = least;
	}
}

unsigned ranks_first(const struct ranks *ranks, uint64_t limit, uint64_t *next)
{
	const uint64_t *earliest = ranks->earliest;
	unsigned node = 1;

	*next = RANKS_NEVER;
	if (earliest[1] > limit) {
		*next = earliest[1];
		return ranks->leaves;
	}
	while (node < ranks->leaves) {
		node *= 2;
		if (earliest[node] > limit) {
			*next = lesser(*next, earliest[node]);
			node++;
		}
	}
	return node - ranks->leaves;
}

unsigned ranks_first_least(const struct ranks *ranks)
{
	uint64_t nobody;

	return ranks_first(ranks, ranks_least(ranks), &nobody);
}
