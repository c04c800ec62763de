/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time from which each VCPU may run, by deadline (EDF): of those that may run, the one whose deadline is first comes before all others.
 * Those that may not yet wait by the time from which on they may, the others by their deadlines. Costs grow with the logarithm of how many
 * there are; who waits is moved once for each time that it waited.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/sched/heap.h"

/* All zero: nobody. */
struct deadlines {
	struct heap waiting, due;
};

struct turn {
	struct heap_node node;
	struct heap *in; /* NULL: it does not want to run */
	uint64_t deadline;
};

/* It may run from `at` on, and has its deadline then. */
void deadlines_set(struct deadlines *deadlines, struct turn *turn, uint64_t at, uint64_t deadline);
/* It does not want to run. */
void deadlines_clear(struct turn *turn);

/* Returns the one that has waited until a time that is not after `now`; NULL: nobody has. The first of several. */
struct turn *deadlines_next(const struct deadlines *deadlines, uint64_t now);

/*
 * Returns the one that comes first at `now`, or NULL if nobody may run, and in *next the earliest time from which on another one may; later
 * than `now`, UINT64_MAX if nobody waits.
 */
struct turn *deadlines_first(struct deadlines *deadlines, uint64_t now, uint64_t *next);
