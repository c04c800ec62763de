/* SPDX-License-Identifier: Apache-2.0 */
/* A leftist heap (heap.h). */
#include "kernel/sched/heap.h"

static bool is_before(const struct heap_node *a, const struct heap_node *b)
{
	return a->key < b->key || (a->key == b->key && a->number < b->number);
}

static unsigned depth_of(const struct heap_node *node)
{
	return node ? node->depth : 0;
}

/* Makes the shallower side the right one. Returns whether the node's depth has changed. */
static bool lean(struct heap_node *node)
{
	unsigned before = node->depth;

	if (depth_of(node->left) < depth_of(node->right)) {
		struct heap_node *left = node->left;

		node->left = node->right;
		node->right = left;
	}
	node->depth = depth_of(node->right) + 1;
	return node->depth != before;
}

/* Zips two right paths into one, from the top down, and leans its nodes from the bottom up. */
static struct heap_node *merge(struct heap_node *a, struct heap_node *b)
{
	struct heap_node *top = NULL, *last = NULL, **link = &top;

	while (a && b) {
		struct heap_node *first = is_before(b, a) ? b : a;

		if (first == b)
			b = a;
		a = first->right;
		*link = first;
		first->up = last;
		last = first;
		link = &first->right;
	}
	*link = a ? a : b;
	if (*link)
		(*link)->up = last;
	for (; last; last = last->up)
		lean(last);
	return top;
}

static inline __attribute__((always_inline)) void insert(struct heap *heap, struct heap_node *node)
{
	node->left = node->right = node->up = NULL;
	node->depth = 1;
	heap->top = heap->top ? merge(heap->top, node) : node;
}

void heap_add(struct heap *heap, struct heap_node *node)
{
	node->number = heap->added++;
	insert(heap, node);
}

void heap_remove(struct heap *heap, struct heap_node *node)
{
	struct heap_node *up = node->up, *rest;

	if (node->right) {
		node->left->up = node->right->up = NULL;
		rest = merge(node->left, node->right);
	} else {
		rest = node->left;
	}
	if (rest)
		rest->up = up;
	if (!up)
		heap->top = rest;
	else if (up->left == node)
		up->left = rest;
	else
		up->right = rest;
	while (up && lean(up))
		up = up->up;
}

void heap_hasten(struct heap *heap, struct heap_node *node, uint64_t key)
{
	heap_remove(heap, node);
	node->key = key;
	insert(heap, node);
}
