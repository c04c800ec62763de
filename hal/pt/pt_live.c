/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: the editor of stage 2. pt_live.h has the picture and the contracts. Touches table memory and *live, nothing else. */
#include "hal/pt/pt_live.h"

#include "arch/arch.h"
#include "hal/pt/walk.h"

/* A root entry that is in use stays what it is while a kick has taken its present bits (hal/arm/kick.c). Below, nobody takes any. */
static struct pt_place find(const struct pt_live *live, uint64_t ia)
{
	uint64_t *entry = pt_root_entry(&live->format, live->root, ia);
	uint64_t word = pt_load(entry);

	return pt_find_from(&live->format, entry, word ? word | live->format.present : 0, ia);
}

bool pt_live_query(const struct pt_live *live, uint64_t ia, struct hal_leaf *out)
{
	struct pt_place place;

	if (!pt_fits(ia, 1, live->format.ia_bits))
		return false;
	place = find(live, ia);
	return pt_describe(&live->format, &place, ia, out);
}

static const struct pt_live_range *range_of(const struct pt_live *live, uint64_t ia, uint64_t size)
{
	for (const struct pt_live_range *range = live->ranges; range < live->ranges + live->range_count; range++)
		if (ia - range->ia < range->size && size <= range->size - (ia - range->ia))
			return range;
	return NULL;
}

/* All leaves, or all holes. */
static enum hal_status check(const struct pt_live *live, uint64_t ia, uint64_t size, enum pt_kind kind)
{
	const struct pt_live_range *range = range_of(live, ia, size);

	if (!range)
		return HAL_E_DENIED;
	if (!size || pt_offset(ia | size, range->level))
		return HAL_E_RANGE;
	for (uint64_t done = 0; done < size; done += pt_span(range->level))
		if (find(live, ia + done).kind != kind)
			return HAL_E_OVERLAP;
	return HAL_OK;
}

/* With leaves, `word` is the first; 0: with holes. In one store each: a walker sees a hole or a leaf. Nothing is left that can fail. */
static void fill(struct pt_live *live, uint64_t ia, uint64_t size, uint64_t word)
{
	uint64_t span = pt_span(range_of(live, ia, size)->level);

	for (uint64_t done = 0; done < size; done += span)
		__atomic_store_n(find(live, ia + done).entry, word ? word + pt_word_of(&live->format, done) : 0, __ATOMIC_RELAXED);
	arch_barrier(); /* before who waits for it is told */
}

enum hal_status pt_live_put(struct pt_live *live, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions, enum hal_memory memory)
{
	const struct pt_format *format = &live->format;
	const struct pt_live_range *range = range_of(live, ia, size);
	enum hal_status status = check(live, ia, size, PT_HOLE);

	if (!range || !pt_live_is_clear(live))
		return HAL_E_DENIED;
	if (status == HAL_E_RANGE || pt_offset(oa.v, range->level) || !pt_fits(oa.v, size, live->oa_bits))
		return HAL_E_RANGE;
	if (!pt_may(format, permissions, memory))
		return HAL_E_PERMISSION;
	if (status == HAL_OK)
		fill(live, ia, size,
		     pt_word_of(format, oa.v) | (range->level ? format->block : format->page) | format->permission[permissions] |
			     format->memory[memory]);
	return status;
}

/* The holes are visible before the generation that tells of them: who reads it and walks anew finds none of what was taken. */
static void begin_generation(struct pt_live *live)
{
	__atomic_store_n(&live->generation, live->generation + 1, __ATOMIC_RELEASE);
	arch_barrier();
}

enum hal_status pt_live_take(struct pt_live *live, uint64_t ia, uint64_t size)
{
	enum hal_status status = check(live, ia, size, PT_LEAF);

	if (status == HAL_OK) {
		fill(live, ia, size, 0);
		begin_generation(live);
	}
	return status;
}

bool pt_live_pending(const struct pt_live *live, uint32_t slot, uint32_t *generation)
{
	*generation = __atomic_load_n(&live->generation, __ATOMIC_ACQUIRE);
	return live->seen[slot] != *generation;
}

void pt_live_acknowledge(struct pt_live *live, uint32_t slot, uint32_t generation)
{
	__atomic_store_n(&live->seen[slot], generation, __ATOMIC_RELEASE);
}

bool pt_live_is_clear(const struct pt_live *live)
{
	for (uint32_t slot = 0; slot < live->core_count; slot++)
		if (__atomic_load_n(&live->seen[slot], __ATOMIC_ACQUIRE) != live->generation)
			return false;
	return true;
}

static void next_change(struct pt_live *live)
{
	arch_barrier();
	__atomic_store_n(&live->change, live->change + 1, __ATOMIC_RELEASE);
	arch_barrier();
}

void pt_live_replace_begin(struct pt_live *live, uint64_t ia, uint64_t size)
{
	__atomic_store_n(&live->start, ia, __ATOMIC_RELAXED);
	__atomic_store_n(&live->size, size, __ATOMIC_RELAXED);
	next_change(live);
}

void pt_live_replace_end(struct pt_live *live)
{
	next_change(live);
}

/*
 * A hole that was found is explained by a replacement that is under way, by one that has put the new leaf since, or by one that has begun
 * or ended while this looks. If the change is even and the same before and after, a hole found between is no replacement's.
 */
static bool explains(const struct pt_live *live, uint64_t ia, unsigned permissions, uint32_t *change)
{
	struct hal_leaf leaf;
	bool is_leaf, is_within;

	*change = __atomic_load_n(&live->change, __ATOMIC_ACQUIRE);
	is_leaf = pt_live_query(live, ia, &leaf) && !(permissions & ~leaf.permissions);
	is_within = *change & 1 && ia - __atomic_load_n(&live->start, __ATOMIC_RELAXED) < __atomic_load_n(&live->size, __ATOMIC_RELAXED);
	arch_barrier();
	return is_leaf || is_within || __atomic_load_n(&live->change, __ATOMIC_ACQUIRE) != *change;
}

bool pt_live_retry(struct pt_live *live, uint32_t slot, uint64_t ia, unsigned permissions, uint64_t now, uint64_t patience)
{
	struct pt_live_wait *wait = &live->waits[slot];
	uint32_t change;

	if (!range_of(live, ia, 1) || !explains(live, ia, permissions, &change))
		return false;
	if (!wait->waits || now - wait->last > patience)
		wait->series = now;
	if (!wait->waits || wait->change != change)
		wait->since = now;
	wait->waits = true;
	wait->change = change;
	wait->last = now;
	return now - wait->since <= patience && now - wait->series <= PT_LIVE_SERIES * patience;
}

void pt_live_restore(struct pt_live *live)
{
	for (const struct pt_live_range *range = live->ranges; range < live->ranges + live->range_count; range++)
		fill(live, range->ia, range->size, 0);
	for (uint32_t slot = 0; slot < live->core_count; slot++)
		live->waits[slot].waits = false;
	begin_generation(live);
	if (live->change & 1)
		next_change(live);
}
