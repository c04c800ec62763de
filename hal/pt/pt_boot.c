/* SPDX-License-Identifier: Apache-2.0 */
/* The one builder of translation tables. pt.h has the picture and the contracts, the formats have the bits. */
#include "hal/pt/pt.h"

#include "arch/arch.h"

enum { PAGE_BITS = 12, SLOT_BITS = 9, SLOTS = 1 << SLOT_BITS, PERMISSION_SETS = 8 };

enum kind { HOLE, TABLE, LEAF };

/* Where a walk ends: a hole or a leaf, never a table. */
struct place {
	uint64_t *entry;
	unsigned level;
	enum kind kind;
};

/* What is still to be done of a range. */
struct run {
	uint64_t ia, oa, size;
};

static uint64_t span(unsigned level)
{
	return UINT64_C(1) << (PAGE_BITS + SLOT_BITS * level);
}

static uint64_t offset(uint64_t address, unsigned level)
{
	return address & (span(level) - 1);
}

static void advance(struct run *run, uint64_t bytes)
{
	run->ia += bytes;
	run->oa += bytes;
	run->size -= bytes;
}

/* Bits 51:12, in every format; those above oa_bits are 0. */
static uint64_t oa_of(uint64_t entry)
{
	return entry & UINT64_C(0x000ffffffffff000);
}

static enum kind kind_of(const struct pt_format *format, uint64_t entry, unsigned level)
{
	if (!(entry & format->present))
		return HOLE;
	return level && !((entry ^ format->table) & format->kind) ? TABLE : LEAF;
}

static uint64_t *slot(uint64_t table, uint64_t ia, unsigned level)
{
	size_t page = (size_t)(ia >> PAGE_BITS); /* fits a register, even where the address does not */
	size_t index = page >> SLOT_BITS * level & (SLOTS - 1);

	return (uint64_t *)(uintptr_t)table + index;
}

static struct place find(const struct pt *pt, uint64_t ia)
{
	const struct pt_format *format = pt->format;
	unsigned level = format->levels - 1u;
	uint64_t *entry = slot((uintptr_t)pt->root, ia, level);

	while (kind_of(format, *entry, level) == TABLE)
		entry = slot(oa_of(*entry), ia, --level);
	return (struct place){ entry, level, kind_of(format, *entry, level) };
}

/*
 * How many entries of a place's table are holes, from the place itself to the first that is none: at most so many. Holes side by
 * side are dealt with together, as coming down from the root for each would be most of what start-up does.
 */
static unsigned holes(const struct pt *pt, struct place place, uint64_t at_most)
{
	unsigned left = SLOTS - (unsigned)((uintptr_t)place.entry / sizeof(*place.entry) % SLOTS);
	unsigned limit = at_most < left ? (unsigned)at_most : left;
	unsigned n = 0;

	while (n < limit && !(place.entry[n] & pt->format->present))
		n++;
	return n;
}

/* How many leaves of this level the run holds. */
static uint64_t leaves(struct run run, unsigned level)
{
	return run.size >> (PAGE_BITS + SLOT_BITS * level);
}

/* A live entry changes in one store: a walker on another core sees the old word or the new one. */
static void store(uint64_t *entry, uint64_t word)
{
	__atomic_store_n(entry, word, __ATOMIC_RELAXED);
}

/* Turns a hole into an empty table, which translates as much as the hole did. */
static enum hal_status grow(struct pt *pt, uint64_t *hole)
{
	uint64_t *table = hal_arena_take(pt->arena, 1);

	if (!table)
		return HAL_E_NOMEM;
	arch_barrier(); /* its zeroes before the link to it */
	store(hole, (uintptr_t)table | pt->format->table);
	pt->table_bytes += BH_PAGE_BYTES;
	return HAL_OK;
}

static bool fits(uint64_t start, uint64_t size, unsigned bits)
{
	uint64_t end = UINT64_C(1) << bits;

	return start < end && size <= end - start;
}

static enum hal_status check_range(const struct pt *pt, struct run run)
{
	if (!run.size || offset(run.ia | run.oa | run.size, 0))
		return HAL_E_RANGE;
	return fits(run.ia, run.size, pt->format->ia_bits) && fits(run.oa, run.size, pt->oa_bits) ? HAL_OK : HAL_E_RANGE;
}

static enum hal_status check_permissions(const struct pt *pt, unsigned permissions, enum hal_memory memory)
{
	if (permissions >= PERMISSION_SETS || !(pt->format->permissions >> permissions & 1))
		return HAL_E_PERMISSION;
	return memory == HAL_MEMORY_DEVICE && permissions & HAL_EXECUTE ? HAL_E_PERMISSION : HAL_OK;
}

/* From holes to holes; the last may reach beyond the run. */
static enum hal_status check_free(const struct pt *pt, struct run run)
{
	for (uint64_t end = run.ia + run.size; run.ia < end; run.size = end - run.ia) {
		struct place place = find(pt, run.ia);

		if (place.kind == LEAF)
			return HAL_E_OVERLAP;
		run.ia -= offset(run.ia, place.level);
		run.ia += holes(pt, place, leaves(run, place.level) + 1) * span(place.level);
	}
	return HAL_OK;
}

/* From leaf to leaf; the last ends with the run. */
static enum hal_status check_leaves(const struct pt *pt, struct run run)
{
	while (run.size) {
		struct place place = find(pt, run.ia);

		if (place.kind == HOLE || offset(run.ia, place.level) || run.size < span(place.level))
			return HAL_E_OVERLAP;
		advance(&run, span(place.level));
	}
	return HAL_OK;
}

/* Divides the holes of a free run until each is a leaf's place. */
static enum hal_status reserve(struct pt *pt, struct run run, unsigned leaf_levels)
{
	while (run.size) {
		struct place place = find(pt, run.ia);
		bool aligned = !offset(run.ia | run.oa, place.level);

		if (aligned && run.size >= span(place.level) && leaf_levels >> place.level & 1)
			advance(&run, holes(pt, place, leaves(run, place.level)) * span(place.level));
		else if (grow(pt, place.entry) != HAL_OK)
			return HAL_E_NOMEM;
	}
	return HAL_OK;
}

/* Fills the places of a reserved run. Nothing is left that can fail. */
static void commit(struct pt *pt, struct run run, uint64_t attributes)
{
	while (run.size) {
		struct place place = find(pt, run.ia);
		uint64_t fixed = place.level ? pt->format->block : pt->format->page;
		uint64_t leaf_bytes = span(place.level);

		for (unsigned n = holes(pt, place, leaves(run, place.level)); n; n--) {
			store(place.entry++, run.oa | attributes | fixed);
			advance(&run, leaf_bytes);
		}
	}
	arch_barrier(); /* every leaf before whatever start-up does next */
}

enum hal_status pt_map(struct pt *pt, uint64_t ia, hpa_t oa, uint64_t size, unsigned permissions, enum hal_memory memory)
{
	const struct run run = { ia, oa.v, size };
	enum hal_status status = check_range(pt, run);

	if (status == HAL_OK)
		status = check_permissions(pt, permissions, memory);
	if (status == HAL_OK)
		status = check_free(pt, run);
	if (status == HAL_OK)
		status = reserve(pt, run, permissions & HAL_EXECUTE ? pt->executable_leaf_levels : pt->leaf_levels);
	if (status == HAL_OK)
		commit(pt, run, pt->format->permission[permissions] | pt->format->memory[memory]);
	return status;
}

enum hal_status pt_unmap(struct pt *pt, uint64_t ia, uint64_t size)
{
	struct run run = { .ia = ia, .size = size };
	enum hal_status status = check_range(pt, run);

	if (status == HAL_OK)
		status = check_leaves(pt, run);
	while (status == HAL_OK && run.size) {
		struct place place = find(pt, run.ia);

		store(place.entry, 0);
		advance(&run, span(place.level));
	}
	arch_barrier(); /* every hole before the caller's invalidation */
	return status;
}

static unsigned permissions_of(const struct pt_format *format, uint64_t entry)
{
	uint64_t mask = 0;
	unsigned set = 0;

	for (unsigned n = 0; n < PERMISSION_SETS; n++)
		mask |= format->permission[n];
	while (!(format->permissions >> set & 1) || format->permission[set] != (entry & mask))
		set++;
	return set;
}

static enum hal_memory memory_of(const struct pt_format *format, uint64_t entry)
{
	uint64_t mask = format->memory[HAL_MEMORY_RAM] | format->memory[HAL_MEMORY_DEVICE];

	return (entry & mask) == format->memory[HAL_MEMORY_RAM] ? HAL_MEMORY_RAM : HAL_MEMORY_DEVICE;
}

bool pt_query(const struct pt *pt, uint64_t ia, struct hal_leaf *out)
{
	struct place place;

	if (!fits(ia, 1, pt->format->ia_bits))
		return false;
	place = find(pt, ia);
	if (place.kind == HOLE)
		return false;
	out->hpa.v = oa_of(*place.entry) + offset(ia, place.level);
	out->size = span(place.level);
	out->permissions = permissions_of(pt->format, *place.entry);
	out->memory = memory_of(pt->format, *place.entry);
	return true;
}

enum hal_status pt_init(struct pt *pt, const struct pt_format *format, struct hal_arena *arena)
{
	uint64_t *root = hal_arena_take(arena, 1);

	if (!root)
		return HAL_E_NOMEM;
	*pt = (struct pt){
		.format = format,
		.arena = arena,
		.root = root,
		.table_bytes = BH_PAGE_BYTES,
		.oa_bits = format->oa_bits,
		.leaf_levels = format->leaf_levels,
		.executable_leaf_levels = format->leaf_levels,
	};
	return HAL_OK;
}
