/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps and unmaps in address spaces (space.h). A change is planned first: every leaf is looked at, the tables that are missing are counted
 * and taken. What can fail has failed by then, and nothing has changed. Nothing here calls itself; walks are as deep as the format has
 * levels.
 */
#include "kernel/core/space.h"

#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/frames.h"
#include "kernel/core/memory.h"
#include "kernel/core/space_entry.h"

enum { MOST_LEVELS = 4, MOST_ASIDS = 256, FORGET_PAGES = 32 };

struct space kernel_space;

static struct {
	struct lock lock;
	bool asid_taken[MOST_ASIDS];
	unsigned others; /* spaces beside the kernel's */
} spaces;

/* ---- Walks -------------------------------------------------------------------------------------------------------- */

struct place {
	uint64_t *entry;
	unsigned shift; /* the entry translates 1 << shift bytes */
};

static bool leads_to_table(uint64_t entry, unsigned shift)
{
	return entry && shift > SPACE_PAGE_SHIFT && (entry & space_format.kind_mask) == space_format.kind_table;
}

static uint64_t *table_of(uint64_t entry)
{
	return (uint64_t *)(uintptr_t)(entry & SPACE_ADDRESS_MASK);
}

static uint64_t *entry_in(uint64_t *table, uint64_t virtual, unsigned shift)
{
	return &table[(virtual >> shift) % SPACE_ENTRIES];
}

/* The leaf or the hole that `virtual` is in; not below entries of 1 << least bytes. */
static struct place find(const struct space *space, uint64_t virtual, unsigned least)
{
	struct place at = { entry_in(space->root, virtual, space_format.root_shift), space_format.root_shift };

	while (at.shift > least && leads_to_table(*at.entry, at.shift)) {
		at.shift -= SPACE_ENTRY_BITS;
		at.entry = entry_in(table_of(*at.entry), virtual, at.shift);
	}
	return at;
}

static uint64_t offset_in(uint64_t virtual, unsigned shift)
{
	return virtual & ((1ULL << shift) - 1);
}

static uint64_t rest_of(uint64_t virtual, unsigned shift)
{
	return (1ULL << shift) - offset_in(virtual, shift);
}

uint64_t *space_entry(struct space *space, uint64_t virtual, unsigned shift)
{
	struct place at = find(space, virtual, shift);

	return at.shift == shift ? at.entry : NULL;
}

/* The entries from this one to the last of its table. */
static uint64_t entries_left(const struct place *at)
{
	return SPACE_ENTRIES - (uintptr_t)at->entry % (SPACE_ENTRIES * sizeof(uint64_t)) / sizeof(uint64_t);
}

/* How many entries from this one on, in its table, are holes as it is, or leaves that lead on from where it does, of the same kind. */
static uint64_t alike_at(const struct place *at)
{
	const uint64_t left = entries_left(at), step = *at->entry ? 1ULL << at->shift : 0;
	uint64_t count = 1;

	for (uint64_t next = *at->entry + step; count < left && at->entry[count] == next; next += step)
		count++;
	return count;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

struct space_view space_query(struct space *space, uint64_t virtual)
{
	bool enabled = lock_take(&space->lock);
	struct place at = find(space, virtual, SPACE_PAGE_SHIFT);
	uint64_t entry = *at.entry, bytes = rest_of(virtual, at.shift) + ((alike_at(&at) - 1) << at.shift);

	lock_give(&space->lock, enabled);
	return (struct space_view){
		.mapped = entry != 0,
		.physical = entry ? (entry & SPACE_ADDRESS_MASK) + offset_in(virtual, at.shift) : 0,
		.attributes = entry & ~SPACE_ADDRESS_MASK,
		.bytes = least(bytes, space_format.end - virtual),
	};
}

/* ---- What may be asked -------------------------------------------------------------------------------------------- */

static bool is_page_aligned(uint64_t value)
{
	return value % (1U << SPACE_PAGE_SHIFT) == 0;
}

static bool is_in_part(const struct space *space, uint64_t virtual, uint64_t size)
{
	uint64_t start = space == &kernel_space ? 0 : space_format.user_start;

	return is_page_aligned(virtual | size) && size && virtual >= start && virtual < space_format.end &&
	       size <= space_format.end - virtual;
}

static bool is_kind_for(const struct space *space, uint64_t virtual, enum space_kind kind)
{
	return kind >= SPACE_USER_TEXT ? kind < SPACE_KINDS && virtual >= space_format.user_start : space == &kernel_space;
}

/* ---- Tables ------------------------------------------------------------------------------------------------------- */

/* Frames that are no part of a space, linked by their first words. All other words are 0. */
struct spare {
	uint64_t *first;
	uint32_t count;
};

static void give_all(struct spare *spare)
{
	while (spare->first) {
		uint64_t *frame = spare->first;

		spare->first = (uint64_t *)(uintptr_t)*frame;
		frames_give((uintptr_t)frame, 1, FRAME_TABLE);
	}
	spare->count = 0;
}

static void put(struct spare *spare, uint64_t *frame)
{
	*frame = (uintptr_t)spare->first;
	spare->first = frame;
	spare->count++;
}

static bool take_all(struct spare *spare, uint32_t count)
{
	while (spare->count < count) {
		uint64_t frame = frames_take(FRAME_TABLE);

		if (!frame) {
			give_all(spare);
			return false;
		}
		put(spare, (uint64_t *)(uintptr_t)frame);
	}
	return true;
}

/* A table of holes. */
static uint64_t *use(struct spare *spare)
{
	uint64_t *frame = spare->first;

	if (!frame)
		fault_stop("a map needs more tables than were counted");
	spare->first = (uint64_t *)(uintptr_t)*frame;
	spare->count--;
	*frame = 0;
	return frame;
}

/* ---- Map ---------------------------------------------------------------------------------------------------------- */

struct run {
	uint64_t virtual, physical, end; /* end: of `virtual` */
};

/* The largest leaf that begins the run, in a hole of 1 << hole bytes. */
static unsigned leaf_shift(const struct run *run, unsigned hole)
{
	bool fits = hole >= SPACE_LARGE_SHIFT && offset_in(run->virtual | run->physical, SPACE_LARGE_SHIFT) == 0 &&
		    run->end - run->virtual >= 1ULL << SPACE_LARGE_SHIFT;

	return fits ? SPACE_LARGE_SHIFT : SPACE_PAGE_SHIFT;
}

static void advance(struct run *run, uint64_t bytes)
{
	run->virtual += bytes;
	run->physical += bytes;
}

/* How much of the run, which begins in this hole with a leaf of 1 << leaf bytes, needs no further look: holes in one table. */
static uint64_t alike(const struct run *run, const struct place *at, unsigned leaf)
{
	const uint64_t rest = run->end - run->virtual;

	if (leaf == SPACE_LARGE_SHIFT)
		return 1ULL << SPACE_LARGE_SHIFT;
	if (at->shift == SPACE_PAGE_SHIFT)
		return least(rest, alike_at(at) << SPACE_PAGE_SHIFT);
	return least(rest, rest_of(run->virtual, SPACE_LARGE_SHIFT));
}

/* Counts the tables that the run needs. */
static enum space_status plan_map(const struct space *space, struct run run, uint32_t *tables)
{
	uint64_t covered[MOST_LEVELS] = { 0 }; /* by level: where the last table that was counted ends */

	while (run.virtual < run.end) {
		struct place at = find(space, run.virtual, SPACE_PAGE_SHIFT);
		unsigned leaf = leaf_shift(&run, at.shift);

		if (*at.entry)
			return SPACE_E_OVERLAP;
		if (at.shift == space_format.root_shift && run.virtual < space_format.user_start && spaces.others)
			return SPACE_E_SHARED;
		for (unsigned shift = leaf; shift < at.shift; shift += SPACE_ENTRY_BITS) {
			uint64_t *end = &covered[(shift - SPACE_PAGE_SHIFT) / SPACE_ENTRY_BITS];

			if (run.virtual >= *end) {
				*end = run.virtual + rest_of(run.virtual, shift + SPACE_ENTRY_BITS);
				++*tables;
			}
		}
		advance(&run, alike(&run, &at, leaf));
	}
	return SPACE_OK;
}

static void map(struct space *space, struct run run, uint64_t attributes, struct spare *spare)
{
	space->tables += spare->count;
	while (run.virtual < run.end) {
		struct place at = find(space, run.virtual, SPACE_PAGE_SHIFT);
		unsigned leaf = leaf_shift(&run, at.shift);

		for (; at.shift > leaf; at = find(space, run.virtual, SPACE_PAGE_SHIFT)) {
			uint64_t *table = use(spare);

			memory_publish(); /* its holes, before anything leads to it */
			memory_write(at.entry, (uintptr_t)table | space_format.table);
		}
		for (uint64_t left = alike(&run, &at, leaf); left; left -= 1ULL << leaf) {
			memory_write(at.entry++,
				     run.physical | attributes | (leaf == SPACE_PAGE_SHIFT ? space_format.page : space_format.large));
			advance(&run, 1ULL << leaf);
		}
	}
}

enum space_status space_map(struct space *space, uint64_t virtual, uint64_t physical, uint64_t size, enum space_kind kind)
{
	const struct run run = { virtual, physical, virtual + size };
	struct spare spare = { NULL, 0 };
	enum space_status status;
	uint32_t tables = 0;
	bool enabled;

	if (!is_in_part(space, virtual, size) || !is_page_aligned(physical) || physical > SPACE_ADDRESS_MASK ||
	    size - 1 > SPACE_ADDRESS_MASK + FRAME_BYTES - 1 - physical)
		return SPACE_E_RANGE;
	if (space == &kernel_space && virtual < space_format.user_start && size > space_format.user_start - virtual)
		return SPACE_E_RANGE;
	if (!is_kind_for(space, virtual, kind))
		return SPACE_E_KIND;
	enabled = lock_take(&space->lock);
	status = plan_map(space, run, &tables);
	if (status == SPACE_OK && !take_all(&spare, tables))
		status = SPACE_E_NOMEM;
	if (status == SPACE_OK) {
		map(space, run, space_format.leaf[kind] | (virtual >= space_format.user_start ? space_format.user_part : 0), &spare);
		memory_publish();
	}
	lock_give(&space->lock, enabled);
	return status;
}

/* ---- Unmap -------------------------------------------------------------------------------------------------------- */

static bool cuts_leaf(const struct space *space, uint64_t edge)
{
	struct place at = find(space, edge, SPACE_PAGE_SHIFT);

	return *at.entry && offset_in(edge, at.shift);
}

static unsigned asid_at(const struct space *space, uint64_t virtual)
{
	return virtual < space_format.user_start ? MEMORY_EVERY_ASID : space->asid;
}

/* Makes leaves holes. */
static void cut(struct space *space, uint64_t virtual, uint64_t end)
{
	unsigned leaves = 0;

	while (virtual < end) {
		struct place at = find(space, virtual, SPACE_PAGE_SHIFT);

		if (*at.entry) {
			memory_write(at.entry, 0);
			if (leaves++ < FORGET_PAGES)
				memory_forget_page(virtual, asid_at(space, virtual));
		}
		virtual += rest_of(virtual, at.shift);
	}
	if (leaves > FORGET_PAGES)
		memory_forget_asid(MEMORY_EVERY_ASID);
}

static bool is_empty(const uint64_t *table)
{
	for (unsigned n = 0; n < SPACE_ENTRIES; n++)
		if (table[n])
			return false;
	return true;
}

/* Takes the tables of entries of 1 << shift bytes out that are empty. Walkers may hold what led to them until they are told to forget. */
static void trim(struct space *space, uint64_t virtual, uint64_t end, unsigned shift, struct spare *empty)
{
	const unsigned above = shift + SPACE_ENTRY_BITS;

	while (virtual < end) {
		struct place at = find(space, virtual, above);
		bool shared = at.shift == space_format.root_shift && virtual < space_format.user_start;

		if (at.shift == above && !shared && leads_to_table(*at.entry, above) && is_empty(table_of(*at.entry))) {
			uint64_t *table = table_of(*at.entry);

			memory_write(at.entry, 0);
			memory_forget_page(virtual, asid_at(space, virtual));
			put(empty, table);
		}
		virtual += rest_of(virtual, at.shift);
	}
}

static void unmap(struct space *space, uint64_t virtual, uint64_t end)
{
	struct spare empty = { NULL, 0 };

	cut(space, virtual, end);
	for (unsigned shift = SPACE_PAGE_SHIFT; shift < space_format.root_shift; shift += SPACE_ENTRY_BITS)
		trim(space, virtual, end, shift, &empty);
	space->tables -= empty.count;
	give_all(&empty);
}

/* With the locks of `spaces` and of the space held: no core begins to use the space meanwhile. */
static bool is_elsewhere(const struct space *space)
{
	return space->cores & ~(1U << cpu_slot());
}

enum space_status space_unmap(struct space *space, uint64_t virtual, uint64_t size)
{
	enum space_status status = SPACE_OK;
	bool enabled, inner;

	if (!is_in_part(space, virtual, size))
		return SPACE_E_RANGE;
	enabled = lock_take(&spaces.lock);
	inner = lock_take(&space->lock);
	if (cuts_leaf(space, virtual) || (virtual + size < space_format.end && cuts_leaf(space, virtual + size)))
		status = SPACE_E_RANGE;
	else if (is_elsewhere(space))
		status = SPACE_E_ELSEWHERE;
	else
		unmap(space, virtual, virtual + size);
	lock_give(&space->lock, inner);
	lock_give(&spaces.lock, enabled);
	return status;
}

/* ---- Spaces ------------------------------------------------------------------------------------------------------- */

static bool make(struct space *space, unsigned asid)
{
	uint64_t root = frames_take(FRAME_TABLE);

	if (!root)
		return false;
	*space = (struct space){ .root = (uint64_t *)(uintptr_t)root, .asid = asid, .tables = 1 };
	return true;
}

enum space_status space_init(void)
{
	spaces.asid_taken[0] = true;
	return make(&kernel_space, 0) ? SPACE_OK : SPACE_E_NOMEM;
}

/* 0: none */
static unsigned free_asid(void)
{
	for (unsigned asid = 1; asid < space_format.asids && asid < MOST_ASIDS; asid++)
		if (!spaces.asid_taken[asid])
			return asid;
	return 0;
}

enum space_status space_create(struct space *space)
{
	bool enabled = lock_take(&spaces.lock), inner;
	unsigned asid = free_asid();
	bool made = asid && make(space, asid);

	if (made) {
		spaces.asid_taken[asid] = true;
		spaces.others++;
		inner = lock_take(&kernel_space.lock);
		for (uint64_t n = 0; n < space_format.user_start >> space_format.root_shift; n++)
			space->root[n] = kernel_space.root[n];
		lock_give(&kernel_space.lock, inner);
		memory_publish();
	}
	lock_give(&spaces.lock, enabled);
	return made ? SPACE_OK : SPACE_E_NOMEM;
}

enum space_status space_destroy(struct space *space)
{
	bool enabled = lock_take(&spaces.lock);
	bool elsewhere = is_elsewhere(space);

	if (!elsewhere) {
		unmap(space, space_format.user_start, space_format.end);
		memory_forget_asid(space->asid);
		frames_give((uintptr_t)space->root, 1, FRAME_TABLE);
		spaces.asid_taken[space->asid] = false;
		spaces.others--;
		space->root = NULL;
	}
	lock_give(&spaces.lock, enabled);
	return elsewhere ? SPACE_E_ELSEWHERE : SPACE_OK;
}

void space_activate(struct space *space)
{
	bool enabled = lock_take(&spaces.lock);

	space->cores |= 1U << cpu_slot();
	memory_switch(space->root, space->asid);
	lock_give(&spaces.lock, enabled);
}

void space_forget(struct space *space)
{
	bool enabled = lock_take(&spaces.lock);

	memory_forget_asid(space->asid);
	space->cores &= ~(1U << cpu_slot());
	lock_give(&spaces.lock, enabled);
}

uint32_t space_cores(struct space *space)
{
	bool enabled = lock_take(&spaces.lock);
	uint32_t cores = space->cores;

	lock_give(&spaces.lock, enabled);
	return cores;
}

void space_expect_core(unsigned slot)
{
	bool enabled = lock_take(&spaces.lock);

	kernel_space.cores |= 1U << slot;
	lock_give(&spaces.lock, enabled);
}

/* Forgotten with the lock held: nothing is unmapped between that and the note. */
void space_leave_core(void)
{
	bool enabled = lock_take(&spaces.lock);

	memory_leave();
	kernel_space.cores &= ~(1U << cpu_slot());
	lock_give(&spaces.lock, enabled);
}
