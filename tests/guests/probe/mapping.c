/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/mapping.h"

#include <stdbool.h>

#include "abi/guest.h"
#include "kernel/core/fault.h"
#include "kernel/core/memory.h"

enum { AIM_PAGES = 2 };
#define REACH_LIMIT (1ULL << 38) /* physical */

uint64_t mapping_reach(uint64_t physical, uint64_t size)
{
	static uint64_t reached; /* bytes from memory_reach_base on */
	uint64_t start = memory_reach_base + reached;
	uint64_t virtual = start + physical % BH_PAGE_BYTES;

	if (physical >= REACH_LIMIT || size >= memory_graft_base - virtual)
		return 0;
	reached += ((virtual + size + BH_PAGE_BYTES - 1) & MEMORY_ADDRESS_MASK) - start;
	return memory_map(virtual, physical, size, MEMORY_ANY) ? virtual : 0;
}

uint64_t *mapping_entry(uint64_t virtual)
{
	uint64_t *table = memory_root();

	for (unsigned shift = MEMORY_ROOT_SHIFT; shift > MEMORY_PAGE_SHIFT; shift -= 9)
		table = (uint64_t *)(uintptr_t)(table[(virtual >> shift) % MEMORY_ENTRIES] & MEMORY_ADDRESS_MASK);
	return &table[(virtual >> MEMORY_PAGE_SHIFT) % MEMORY_ENTRIES];
}

uint64_t mapping_entry_to(uint64_t physical)
{
	return (physical & MEMORY_ADDRESS_MASK) | memory_leaf[MEMORY_ANY] | memory_page;
}

/* Broken before it is made anew: Arm ARM, D8.16 "Using break-before-make when updating translation table entries". */
static uint64_t aim(const uint64_t entry[AIM_PAGES])
{
	static uint64_t window;

	if (!window && !(window = mapping_reach(0, (uint64_t)AIM_PAGES * BH_PAGE_BYTES)))
		fault_stop("out of page tables");
	for (uint64_t page = 0; page < AIM_PAGES; page++)
		*mapping_entry(window + page * BH_PAGE_BYTES) = 0;
	memory_forget();
	for (uint64_t page = 0; page < AIM_PAGES; page++)
		*mapping_entry(window + page * BH_PAGE_BYTES) = entry[page];
	memory_publish();
	return window;
}

uint64_t mapping_aim(uint64_t physical)
{
	const uint64_t entry[AIM_PAGES] = { mapping_entry_to(physical), mapping_entry_to(physical + BH_PAGE_BYTES) };

	return aim(entry) + physical % BH_PAGE_BYTES;
}

uint64_t mapping_alias(uint64_t physical)
{
	const uint64_t device = (physical & MEMORY_ADDRESS_MASK) | memory_leaf[MEMORY_DEVICE] | memory_page;
	const uint64_t entry[AIM_PAGES] = { mapping_entry_to(physical), device };

	uint64_t *whole = &memory_root()[memory_graft_base >> MEMORY_ROOT_SHIFT];
	uint64_t window;

	*whole = 0;
	window = aim(entry);
	*whole = (physical & MEMORY_ADDRESS_MASK & ~((1ULL << MEMORY_ROOT_SHIFT) - 1)) | memory_leaf[MEMORY_ANY] | memory_large;
	memory_publish();
	return window + physical % BH_PAGE_BYTES;
}

uint64_t mapping_graft(uint64_t table)
{
	memory_root()[memory_graft_base >> MEMORY_ROOT_SHIFT] = (table & MEMORY_ADDRESS_MASK) | memory_table;
	memory_publish();
	return memory_graft_base;
}
