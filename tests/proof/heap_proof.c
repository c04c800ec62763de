/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F4.scheduler. Every leftist heap of up to MOST nodes: a node is added, or any one removed. kernel/sched/heap.c
 */
#include "kernel/sched/heap.h"

#include "proof.h"

/* Seven are the fewest of which one that is removed changes a depth two nodes above it. */
#ifndef MOST
#define MOST 7
#endif

static struct heap heap;
static struct heap_node nodes[MOST + 1]; /* the first `count` are in the heap, in their order: each comes before those that follow */
static unsigned count;
static bool is_in[MOST + 1];

static unsigned depth_of(const struct heap_node *node)
{
	return node ? node->depth : 0;
}

static void hang(unsigned n)
{
	unsigned up = (unsigned)any_below(8);
	bool left = any_below(2);

	ASSUME(up < n);
	ASSUME(!(left ? nodes[up].left : nodes[up].right));
	nodes[n].up = &nodes[up];
	*(left ? &nodes[up].left : &nodes[up].right) = &nodes[n];
}

static void make_any_heap(void)
{
	uint64_t key = 1;

	count = (unsigned)any_below(8);
	ASSUME(count <= MOST);
	heap = (struct heap){ .top = count ? &nodes[0] : NULL, .added = MOST };
	for (unsigned n = 0; n < MOST + 1; n++) {
		nodes[n] = (struct heap_node){ 0 };
		is_in[n] = n < count;
	}
	for (unsigned n = 0; n < count; n++) {
		key += any_below(2);
		nodes[n].key = key;
		nodes[n].number = n; /* decides where keys are equal */
		if (n)
			hang(n);
	}
	for (unsigned n = count; n-- > 0;) {
		ASSUME(depth_of(nodes[n].left) >= depth_of(nodes[n].right));
		nodes[n].depth = depth_of(nodes[n].right) + 1;
	}
}

static bool is_before(const struct heap_node *a, const struct heap_node *b)
{
	return a->key < b->key || (a->key == b->key && a->number < b->number);
}

static void prove_link(const struct heap_node *up, const struct heap_node *down)
{
	if (!down)
		return;
	PROVE(down->up == up);
	PROVE(is_before(up, down));
}

/* Order grows downwards, so there is no circle: whoever has a parent that has it as a child hangs below the top. */
static void prove_heap(void)
{
	bool any = false;

	for (unsigned n = 0; n < MOST + 1; n++) {
		const struct heap_node *node = &nodes[n];

		if (!is_in[n])
			continue;
		any = true;
		prove_link(node, node->left);
		prove_link(node, node->right);
		PROVE(!node->left || is_in[node->left - nodes]);
		PROVE(!node->right || is_in[node->right - nodes]);
		PROVE(!node->left || node->left != node->right);
		PROVE(depth_of(node->left) >= depth_of(node->right) && node->depth == depth_of(node->right) + 1);
		if (node->up)
			PROVE(is_in[node->up - nodes] && (node->up->left == node || node->up->right == node));
		else
			PROVE(heap.top == node);
	}
	PROVE(any == (heap.top != NULL));
}

void prove(void)
{
	unsigned n;

	make_any_heap();
	if (any_below(2)) {
		nodes[count].key = any_below(8);
		is_in[count] = true;
		heap_add(&heap, &nodes[count]);
	} else {
		n = (unsigned)any_below(8);
		ASSUME(n < count);
		is_in[n] = false;
		heap_remove(&heap, &nodes[n]);
	}
	prove_heap();
	REACHED();
}
