/* SPDX-License-Identifier: Apache-2.0 */
/* The map of addresses that tables are compared with: a sorted list of leaves (model.h). */
#include "model.h"

#include <stdlib.h>
#include <string.h>

static uint64_t bytes_of(unsigned level)
{
	static const uint64_t bytes[] = { 0x1000, 0x200000, 0x40000000 };

	return bytes[level];
}

void model_reset(struct model *model)
{
	model->count = 0;
	model->used = false;
	memset(model->divided, 0, sizeof(model->divided));
}

/* Index of the first leaf that ends after ia. */
static unsigned lower(const struct model *model, uint64_t ia)
{
	unsigned low = 0, high = model->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (model->leaves[middle].ia + model->leaves[middle].size <= ia)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct model_leaf *model_find(const struct model *model, uint64_t ia)
{
	unsigned n = lower(model, ia);

	return n < model->count && model->leaves[n].ia <= ia ? &model->leaves[n] : NULL;
}

static void insert(struct model *model, struct model_leaf leaf)
{
	unsigned n = lower(model, leaf.ia);

	if (model->count == MODEL_LEAVES)
		abort();
	memmove(&model->leaves[n + 1], &model->leaves[n], (model->count - n) * sizeof(leaf));
	model->leaves[n] = leaf;
	model->count++;
}

static bool bad_range(const struct model *model, uint64_t ia, uint64_t oa, uint64_t size)
{
	unsigned __int128 ia_end = (unsigned __int128)ia + size, oa_end = (unsigned __int128)oa + size;

	return size == 0 || ia % 4096 || oa % 4096 || size % 4096 || ia_end > (unsigned __int128)1 << model->ia_bits ||
	       oa_end > (unsigned __int128)1 << model->oa_bits;
}

static bool bad_permissions(const struct model *model, unsigned permissions, enum hal_memory memory)
{
	bool read = permissions & 1, write = permissions & 2, execute = permissions & 4;

	return permissions > 7 || !read || (write && execute && model->execute_or_write) || (execute && memory == HAL_MEMORY_DEVICE);
}

/* The level of the next leaf; blocks too large for it become divided. */
static unsigned divide(struct model *model, const struct model_leaf *rest)
{
	unsigned allowed = rest->permissions & 4 ? model->executable_leaf_levels : model->leaf_levels;
	unsigned level = 2;

	for (; level; level--) {
		uint64_t bytes = bytes_of(level);
		bool *divided = &model->divided[level][(rest->ia - model->window) / bytes];

		if (allowed >> level & 1 && rest->ia % bytes == 0 && rest->oa % bytes == 0 && rest->size >= bytes && !*divided)
			break;
		*divided = true;
	}
	return level;
}

enum hal_status model_map(struct model *model, const struct model_leaf *run)
{
	struct model_leaf rest = *run;
	unsigned n = lower(model, run->ia);

	if (bad_range(model, run->ia, run->oa, run->size))
		return HAL_E_RANGE;
	if (bad_permissions(model, run->permissions, run->memory))
		return HAL_E_PERMISSION;
	if (n < model->count && model->leaves[n].ia < run->ia + run->size)
		return HAL_E_OVERLAP;
	model->used = true;
	while (rest.size) {
		struct model_leaf leaf = rest;

		leaf.size = bytes_of(divide(model, &rest));
		insert(model, leaf);
		rest.ia += leaf.size;
		rest.oa += leaf.size;
		rest.size -= leaf.size;
	}
	return HAL_OK;
}

enum hal_status model_unmap(struct model *model, uint64_t ia, uint64_t size)
{
	unsigned first = lower(model, ia), last = first;
	uint64_t reached = ia;

	if (bad_range(model, ia, 0, size))
		return HAL_E_RANGE;
	while (last < model->count && reached < ia + size && model->leaves[last].ia == reached)
		reached += model->leaves[last++].size;
	if (reached != ia + size)
		return HAL_E_OVERLAP;
	memmove(&model->leaves[first], &model->leaves[last], (model->count - last) * sizeof(model->leaves[0]));
	model->count -= last - first;
	return HAL_OK;
}

unsigned model_frames(const struct model *model, unsigned levels)
{
	unsigned frames = 1 + (levels == 4 && model->used);

	for (unsigned level = 1; level <= 2; level++)
		for (unsigned n = 0; n < MODEL_BLOCKS; n++)
			frames += model->divided[level][n];
	return frames;
}
