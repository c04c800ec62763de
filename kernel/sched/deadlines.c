/* SPDX-License-Identifier: Apache-2.0 */
/* Two heaps, by time and by deadline (deadlines.h). */
#include "kernel/sched/deadlines.h"

static struct turn *turn_of(struct heap_node *node)
{
	return (struct turn *)((char *)node - offsetof(struct turn, node));
}

static void put(struct heap *heap, struct turn *turn, uint64_t key)
{
	turn->node.key = key;
	turn->in = heap;
	heap_add(heap, &turn->node);
}

void deadlines_clear(struct turn *turn)
{
	if (turn->in)
		heap_remove(turn->in, &turn->node);
	turn->in = NULL;
}

void deadlines_set(struct deadlines *deadlines, struct turn *turn, uint64_t at, uint64_t deadline)
{
	deadlines_clear(turn);
	turn->deadline = deadline;
	put(&deadlines->waiting, turn, at);
}

struct turn *deadlines_next(const struct deadlines *deadlines, uint64_t now)
{
	struct heap_node *first = deadlines->waiting.top;

	return first && first->key <= now ? turn_of(first) : NULL;
}

struct turn *deadlines_first(struct deadlines *deadlines, uint64_t now, uint64_t *next)
{
	struct heap_node *first;

	while ((first = deadlines->waiting.top) && first->key <= now) {
		struct turn *turn = turn_of(first);

		deadlines_clear(turn);
		put(&deadlines->due, turn, turn->deadline);
	}
	*next = first ? first->key : UINT64_MAX;
	return deadlines->due.top ? turn_of(deadlines->due.top) : NULL;
}
