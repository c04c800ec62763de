/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits, the first on top: a leftist heap, in which each node's right subtree is the shallower one. It lies in the nodes themselves, so
 * there is no room to run out of. Every call costs at most a constant times the logarithm of the number of nodes: C. Crane, "Linear Lists
 * and Priority Queues as Balanced Binary Trees", Stanford 1972; D. Knuth, The Art of Computer Programming, vol. 3, 5.2.3.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller writes `key` before heap_add: the lowest comes first, among equal ones the one added first. The rest is heap.c's. */
struct heap_node {
	uint64_t key;
	uint64_t number; /* of those that were added */
	struct heap_node *left, *right, *up;
	unsigned depth; /* of the path to the right */
};

struct heap {
	struct heap_node *top; /* NULL: nobody waits */
	uint64_t added;
};

/* Requires: the node is in no heap. */
void heap_add(struct heap *heap, struct heap_node *node);

/* Gives a node of this heap a lower key. Among equal ones it comes when it was added. */
void heap_hasten(struct heap *heap, struct heap_node *node, uint64_t key);

/* Removes a node of this heap. */
void heap_remove(struct heap *heap, struct heap_node *node);

/* The same, and sooner for who comes first and has few behind it. */
static inline void heap_take_out(struct heap *heap, struct heap_node *node)
{
	if (node->up || node->right) {
		heap_remove(heap, node);
		return;
	}
	heap->top = node->left;
	if (node->left)
		node->left->up = NULL;
}
