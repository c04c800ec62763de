/* SPDX-License-Identifier: Apache-2.0 */
/* The one builder of translation tables. pt.h has the picture and the contracts, the formats have the bits. */
#include "hal/pt/pt.h"

#include "arch/arch.h"
#include "hal/pt/walk.h"

/* What is still to be done of a range. */
struct run {
	uint64_t ia, oa, size;
};

static void advance(struct run *run, uint64_t bytes)
{
	run->ia += bytes;
	run->oa += bytes;
	run->size -= bytes;
}

static struct pt_place find(const struct pt *pt, uint64_t ia)
{
	return pt_find(pt->format, pt->root, ia);
}

/*
 * How many entries of a place's table are holes, from the place itself to the first that is none: at most so many. Holes side by
 * side are dealt with together, as coming down from the root for each would be most of what start-up does.
 */
static unsigned holes(const struct pt *pt, struct pt_place place, uint64_t at_most)
{
	unsigned left = PT_SLOTS - (unsigned)((uintptr_t)place.entry / sizeof(*place.entry) % PT_SLOTS);
	unsigned limit = at_most < left ? (unsigned)at_most : left;
	unsigned n = 0;

	while (n < limit && !(place.entry[n] & pt->format->present))
		n++;
	return n;
}

/* How many leaves of this level the run holds. */
static uint64_t leaves(struct run run, unsigned level)
{
	return run.size >> (PT_PAGE_BITS + PT_SLOT_BITS * level);
}

/* A live entry changes in one store: a walker on another core sees the old word or the new one. */
static void store(uint64_t *entry, uint64_t word)
{
	__atomic_store_n(entry, word, __ATOMIC_RELAXED);
}

/* Turns a hole into an empty table, which translates as much as the hole did. */
static enum hal_status grow(struct pt *pt, const struct pt_place *hole)
{
	uint64_t *table = hal_arena_take(pt->arena, 1);

	if (!table)
		return HAL_E_NOMEM;
	arch_barrier(); /* its zeroes before the link to it */
	store(hole->entry, pt_word_of(pt->format, (uintptr_t)table) | pt->format->table | hole->level * pt->format->table_level);
	pt->table_bytes += BH_PAGE_BYTES;
	return HAL_OK;
}

static enum hal_status check_range(const struct pt *pt, struct run run)
{
	if (!run.size || pt_offset(run.ia | run.oa | run.size, 0))
		return HAL_E_RANGE;
	return pt_fits(run.ia, run.size, pt->format->ia_bits) && pt_fits(run.oa, run.size, pt->oa_bits) ? HAL_OK : HAL_E_RANGE;
}

/* From holes to holes; the last may reach beyond the run. */
static enum hal_status check_free(const struct pt *pt, struct run run)
{
	for (uint64_t end = run.ia + run.size; run.ia < end; run.size = end - run.ia) {
		struct pt_place place = find(pt, run.ia);

		if (place.kind == PT_LEAF)
			return HAL_E_OVERLAP;
		run.ia -= pt_offset(run.ia, place.level);
		run.ia += holes(pt, place, leaves(run, place.level) + 1) * pt_span(place.level);
	}
	return HAL_OK;
}

/* From leaf to leaf; the last ends with the run. */
static enum hal_status check_leaves(const struct pt *pt, struct run run)
{
	while (run.size) {
		struct pt_place place = find(pt, run.ia);

		if (place.kind == PT_HOLE || pt_offset(run.ia, place.level) || run.size < pt_span(place.level))
			return HAL_E_OVERLAP;
		advance(&run, pt_span(place.level));
	}
	return HAL_OK;
}

/* Divides the holes of a free run until each is a leaf's place. */
static enum hal_status reserve(struct pt *pt, struct run run, unsigned leaf_levels)
{
	while (run.size) {
		struct pt_place place = find(pt, run.ia);
		bool aligned = !pt_offset(run.ia | run.oa, place.level);

		if (aligned && run.size >= pt_span(place.level) && leaf_levels >> place.level & 1)
			advance(&run, holes(pt, place, leaves(run, place.level)) * pt_span(place.level));
		else if (grow(pt, &place) != HAL_OK)
			return HAL_E_NOMEM;
	}
	return HAL_OK;
}

/* Fills the places of a reserved run. Nothing is left that can fail. */
static void commit(struct pt *pt, struct run run, uint64_t attributes)
{
	while (run.size) {
		struct pt_place place = find(pt, run.ia);
		uint64_t fixed = place.level ? pt->format->block : pt->format->page;
		uint64_t leaf_bytes = pt_span(place.level);

		for (unsigned n = holes(pt, place, leaves(run, place.level)); n; n--) {
			store(place.entry++, pt_word_of(pt->format, run.oa) | attributes | fixed);
			advance(&run, leaf_bytes);
		}
	}
	arch_barrier(); /* every leaf before whatever start-up does next */
}

enum hal_status pt_prepare(struct pt *pt, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions, enum hal_memory memory)
{
	const struct run run = { ia, oa.v, size };
	enum hal_status status = check_range(pt, run);

	if (status == HAL_OK)
		status = pt_may(pt->format, permissions, memory) ? HAL_OK : HAL_E_PERMISSION;
	if (status == HAL_OK)
		status = check_free(pt, run);
	if (status == HAL_OK)
		status = reserve(pt, run, permissions & HAL_EXECUTE ? pt->executable_leaf_levels : pt->leaf_levels);
	return status;
}

void pt_commit(struct pt *pt, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions, enum hal_memory memory)
{
	commit(pt, (struct run){ ia, oa.v, size }, pt->format->permission[permissions] | pt->format->memory[memory]);
}

enum hal_status pt_map(struct pt *pt, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions, enum hal_memory memory)
{
	enum hal_status status = pt_prepare(pt, ia, oa, size, permissions, memory);

	if (status == HAL_OK)
		pt_commit(pt, ia, oa, size, permissions, memory);
	return status;
}

/* As far as places go that are larger; one that is smaller was made for something else. */
enum hal_status pt_reserve(struct pt *pt, uint64_t ia, uint64_t size, unsigned level)
{
	const struct run run = { ia, ia, size };
	struct run wide = { ia, 0, size };
	enum hal_status status = (ia | size) & (pt_span(level) - 1) ? HAL_E_RANGE : check_range(pt, wide);

	if (status == HAL_OK && !(pt->leaf_levels & pt->executable_leaf_levels & 1u << level))
		return HAL_E_PERMISSION;
	if (status == HAL_OK)
		status = check_free(pt, wide);
	for (uint64_t done = 0; status == HAL_OK && done < size; done += pt_span(level))
		if (find(pt, ia + done).level < level)
			return HAL_E_OVERLAP;
	return status == HAL_OK ? reserve(pt, run, 1u << level) : status;
}

enum hal_status pt_unmap(struct pt *pt, uint64_t ia, uint64_t size)
{
	struct run run = { .ia = ia, .size = size };
	enum hal_status status = check_range(pt, run);

	if (status == HAL_OK)
		status = check_leaves(pt, run);
	while (status == HAL_OK && run.size) {
		struct pt_place place = find(pt, run.ia);

		store(place.entry, 0);
		advance(&run, pt_span(place.level));
	}
	arch_barrier(); /* every hole before the caller's invalidation */
	return status;
}

bool pt_query(const struct pt *pt, uint64_t ia, struct hal_leaf *out)
{
	struct pt_place place;

	if (!pt_fits(ia, 1, pt->format->ia_bits))
		return false;
	place = find(pt, ia);
	return pt_describe(pt->format, &place, ia, out);
}

/*
 * A root has as many slots as ia_bits leave for it: several tables side by side where that is more than one table's, aligned to their sum.
 * ARM ARM D8.2.2 "Concatenated translation tables"; RISC-V Privileged Architecture, "Two-Stage Address Translation".
 */
static size_t root_frames(const struct pt_format *format)
{
	unsigned bits = format->ia_bits - PT_PAGE_BITS - PT_SLOT_BITS * (format->levels - 1u);

	return bits > PT_SLOT_BITS ? (size_t)1 << (bits - PT_SLOT_BITS) : 1;
}

/* Frames up to where it is aligned stay unused. */
static uint64_t *take_root(struct hal_arena *arena, size_t frames)
{
	while (arena->next / BH_PAGE_BYTES % frames)
		if (!hal_arena_take(arena, 1))
			return NULL;
	return hal_arena_take(arena, frames);
}

enum hal_status pt_init(struct pt *pt, const struct pt_format *format, struct hal_arena *arena)
{
	size_t frames = root_frames(format);
	uint64_t *root = take_root(arena, frames);

	if (!root)
		return HAL_E_NOMEM;
	*pt = (struct pt){
		.format = format,
		.arena = arena,
		.root = root,
		.table_bytes = (uint64_t)frames * BH_PAGE_BYTES,
		.oa_bits = format->oa_bits,
		.leaf_levels = format->leaf_levels,
		.executable_leaf_levels = format->leaf_levels,
	};
	return HAL_OK;
}
