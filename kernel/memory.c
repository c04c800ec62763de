/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/memory.h"

#include <stddef.h>

#include "kernel/fault.h"
#include "kernel/info.h"

enum { ENTRIES = 512, ROOT_SHIFT = 30, LARGE_SHIFT = 21, PAGE_SHIFT = 12, TABLES = 16, AIM_PAGES = 2 };
#define ADDRESS_MASK 0x0000fffffffff000ULL
#define REACH_LIMIT  (1ULL << 38) /* physical */

static _Alignas(BH_PAGE_BYTES) uint64_t root[ENTRIES];
static _Alignas(BH_PAGE_BYTES) uint64_t tables[TABLES][ENTRIES]; /* all zero until taken */
static size_t tables_taken;

/* kernel.lds */
extern const char text_start[], text_end[], rodata_end[], image_end[];

static bool is_aligned(uint64_t value, unsigned shift)
{
	return (value & ((1ULL << shift) - 1)) == 0;
}

static uint64_t *follow(uint64_t *entry)
{
	if (!*entry) {
		if (tables_taken == TABLES)
			return NULL;
		*entry = (uintptr_t)tables[tables_taken++] | memory_table;
	}
	return (uint64_t *)(uintptr_t)(*entry & ADDRESS_MASK);
}

/*
 * Maps the largest leaf that begins at `virtual`, or finds one there, which stays as it is. Bytes covered from `virtual` on;
 * 0: out of tables.
 */
static uint64_t map_leaf(uint64_t virtual, uint64_t physical, uint64_t size, enum memory_type type)
{
	uint64_t *table = root;

	for (unsigned shift = ROOT_SHIFT; table; shift -= 9) {
		uint64_t *entry = &table[(virtual >> shift) % ENTRIES];
		uint64_t leaf_bytes = 1ULL << shift;
		bool last = shift == PAGE_SHIFT;

		if (*entry && (last || memory_is_leaf(*entry)))
			return leaf_bytes - virtual % leaf_bytes;
		if (last || (shift == LARGE_SHIFT && !*entry && is_aligned(virtual | physical, shift) && size >= leaf_bytes)) {
			*entry = physical | memory_leaf[type] | (last ? memory_page : memory_large);
			return leaf_bytes;
		}
		table = follow(entry);
	}
	return 0;
}

/* The pages that hold [physical, physical+size), at the same distance from `virtual`. */
static bool map(uint64_t virtual, uint64_t physical, uint64_t size, enum memory_type type)
{
	uint64_t end = (virtual + size + BH_PAGE_BYTES - 1) & ADDRESS_MASK;

	virtual &= ADDRESS_MASK;
	physical &= ADDRESS_MASK;
	while (virtual < end) {
		uint64_t bytes = map_leaf(virtual, physical, end - virtual, type);

		if (!bytes)
			return false;
		virtual += bytes;
		physical += bytes;
	}
	memory_publish();
	return true;
}

uint64_t memory_reach(uint64_t physical, uint64_t size)
{
	static uint64_t reached; /* bytes from memory_reach_base on */
	uint64_t start = memory_reach_base + reached;
	uint64_t virtual = start + physical % BH_PAGE_BYTES;

	if (physical >= REACH_LIMIT || size >= memory_graft_base - virtual)
		return 0;
	reached += ((virtual + size + BH_PAGE_BYTES - 1) & ADDRESS_MASK) - start;
	return map(virtual, physical, size, MEMORY_ANY) ? virtual : 0;
}

uint64_t *memory_entry(uint64_t virtual)
{
	uint64_t *table = root;

	for (unsigned shift = ROOT_SHIFT; shift > PAGE_SHIFT; shift -= 9)
		table = (uint64_t *)(uintptr_t)(table[(virtual >> shift) % ENTRIES] & ADDRESS_MASK);
	return &table[(virtual >> PAGE_SHIFT) % ENTRIES];
}

uint64_t memory_entry_to(uint64_t physical)
{
	return (physical & ADDRESS_MASK) | memory_leaf[MEMORY_ANY] | memory_page;
}

/* Broken before it is made anew: Arm ARM, D8.16 "Using break-before-make when updating translation table entries". */
static uint64_t aim(const uint64_t entry[AIM_PAGES])
{
	static uint64_t window;

	if (!window && !(window = memory_reach(0, (uint64_t)AIM_PAGES * BH_PAGE_BYTES)))
		fault_stop("out of page tables");
	for (uint64_t page = 0; page < AIM_PAGES; page++)
		*memory_entry(window + page * BH_PAGE_BYTES) = 0;
	memory_forget();
	for (uint64_t page = 0; page < AIM_PAGES; page++)
		*memory_entry(window + page * BH_PAGE_BYTES) = entry[page];
	memory_publish();
	return window;
}

uint64_t memory_aim(uint64_t physical)
{
	const uint64_t entry[AIM_PAGES] = { memory_entry_to(physical), memory_entry_to(physical + BH_PAGE_BYTES) };

	return aim(entry) + physical % BH_PAGE_BYTES;
}

uint64_t memory_alias(uint64_t physical)
{
	const uint64_t device = (physical & ADDRESS_MASK) | memory_leaf[MEMORY_DEVICE] | memory_page;
	const uint64_t entry[AIM_PAGES] = { memory_entry_to(physical), device };

	uint64_t *whole = &root[memory_graft_base >> ROOT_SHIFT];
	uint64_t window;

	*whole = 0;
	window = aim(entry);
	*whole = (physical & ADDRESS_MASK & ~((1ULL << ROOT_SHIFT) - 1)) | memory_leaf[MEMORY_ANY] | memory_large;
	memory_publish();
	return window + physical % BH_PAGE_BYTES;
}

uint64_t memory_graft(uint64_t table)
{
	root[memory_graft_base >> ROOT_SHIFT] = (table & ADDRESS_MASK) | memory_table;
	memory_publish();
	return memory_graft_base;
}

static void map_or_stop(uint64_t address, uint64_t size, enum memory_type type)
{
	if (size > memory_reach_base || address > memory_reach_base - size || !map(address, address, size, type))
		fault_stop("a grant lies too high, or needs more page tables than there are");
}

static void map_image(void)
{
	map_or_stop((uintptr_t)text_start, (uint64_t)(text_end - text_start), MEMORY_TEXT);
	map_or_stop((uintptr_t)text_end, (uint64_t)(rodata_end - text_end), MEMORY_RODATA);
	map_or_stop((uintptr_t)rodata_end, (uint64_t)(image_end - rodata_end), MEMORY_DATA);
}

static void map_grant(const struct bh_grant *grant)
{
	switch (grant->kind) {
	case BH_GRANT_RAM:
	case BH_GRANT_LOG:
		map_or_stop(grant->gpa, grant->size, MEMORY_DATA);
		break;
	case BH_GRANT_FOREIGN_LOG:
	case BH_GRANT_STATS:
		map_or_stop(grant->gpa, grant->size, MEMORY_RODATA);
		break;
	case BH_GRANT_DEVICE:
	case BH_GRANT_IRQCHIP:
		map_or_stop(grant->gpa, grant->size, MEMORY_DEVICE);
		break;
	default:
		break;
	}
}

void memory_init(void)
{
	map_image();
	map_or_stop((uintptr_t)info, sizeof(*info), MEMORY_RODATA);
	for (uint32_t i = 0; i < info->grant_count && i < BH_MAX_GRANTS; i++)
		map_grant(&info->grants[i]);
	memory_activate(root);
}
