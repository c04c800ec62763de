/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Every tree of ranks of 8 leaves, or 16, with any leaf set anew: against a loop over the leaves. kernel/sched/ranks.c
 */
#include "kernel/sched/ranks.h"

#include "proof.h"

#ifndef LEAVES
#define LEAVES 8
#endif
#ifndef BITS
#define BITS 2
#endif

static uint64_t words[2 * LEAVES], leaf[LEAVES];
static struct ranks ranks = { .earliest = words, .leaves = LEAVES, .first = __builtin_ctz(LEAVES) & 1 ? 2 : 4 };

/* The last of the times is never. */
static uint64_t any_time(void)
{
	uint64_t time = any_below(1ULL << BITS);

	return time == (1ULL << BITS) - 1 ? RANKS_NEVER : time;
}

/* What each node must be, by its definition: the least of the two below it. */
static void fill(void)
{
	for (unsigned n = 0; n < LEAVES; n++)
		words[LEAVES + n] = leaf[n];
	for (unsigned node = LEAVES - 1; node >= 1; node--)
		words[node] = words[2 * node] < words[2 * node + 1] ? words[2 * node] : words[2 * node + 1];
}

static void prove_first(uint64_t limit)
{
	uint64_t next = 0, expected_next = RANKS_NEVER;
	unsigned expected = LEAVES;

	for (unsigned n = 0; n < LEAVES; n++) {
		if (expected == LEAVES && leaf[n] <= limit)
			expected = n;
		if (expected == LEAVES && leaf[n] < expected_next)
			expected_next = leaf[n];
	}
	PROVE(ranks_first(&ranks, limit, &next) == expected);
	PROVE(next == expected_next);
}

void prove(void)
{
	unsigned rank = (unsigned)any_below(LEAVES);
	uint64_t at = any_time();

	for (unsigned n = 0; n < LEAVES; n++)
		leaf[n] = any_time();
	fill();
	leaf[rank] = at;
	ranks_set(&ranks, rank, at);
	for (unsigned n = 0; n < LEAVES; n++)
		PROVE(words[LEAVES + n] == leaf[n]);
	prove_first(any_below(1ULL << BITS));
	REACHED();
}
