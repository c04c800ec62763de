/* SPDX-License-Identifier: Apache-2.0 */
/* Maps addresses that were never granted, so that commands can reach for them. */
#include "probe/mapping.h"

#include <stdbool.h>

#include "abi/guest.h"
#include "kernel/core/fault.h"
#include "kernel/core/memory.h"
#include "kernel/core/space_entry.h"

enum { AIM_PAGES = 2, WHOLE_SHIFT = 30 };
#define REACH_LIMIT (1ULL << 38) /* physical */

/* ---- The addresses that the kernel leaves to the program that is linked with it, as many as there are for grants ------- */

static uint64_t reach_start(void)
{
	return space_format.grants_end;
}

/* The last GiB. */
static uint64_t graft_start(void)
{
	return 2 * space_format.grants_end - (1ULL << WHOLE_SHIFT);
}

/* ---- Entries with every right, which the kernel does not make -------------------------------------------------------- */

/* What may be written, without the bits that keep it from being executed: those that text, which may not be written, does not have. */
static uint64_t every_right(void)
{
	const uint64_t *leaf = space_format.leaf;

	return leaf[SPACE_DATA] & ~(leaf[SPACE_RODATA] & ~leaf[SPACE_TEXT]);
}

static uint64_t leads_to(uint64_t physical, uint64_t attributes)
{
	return (physical & SPACE_ADDRESS_MASK) | attributes | space_format.page;
}

static uint64_t *graft_entry(void)
{
	return space_entry(&kernel_space, graft_start(), WHOLE_SHIFT);
}

uint64_t mapping_reach(uint64_t physical, uint64_t size)
{
	static uint64_t reached; /* bytes from reach_start() on; cores reach at the same time */
	const uint64_t most = graft_start() - reach_start();
	uint64_t first = physical & -(uint64_t)BH_PAGE_BYTES, bytes, start;

	if (physical >= REACH_LIMIT || size >= most)
		return 0;
	bytes = (physical - first + size + BH_PAGE_BYTES - 1) & -(uint64_t)BH_PAGE_BYTES;
	start = __atomic_fetch_add(&reached, bytes, __ATOMIC_RELAXED);
	if (start >= most || bytes >= most - start)
		return 0;
	start += reach_start();
	/* Page by page: each has an entry of its own, which can be changed. */
	for (uint64_t at = 0; at < bytes; at += BH_PAGE_BYTES) {
		if (space_map(&kernel_space, start + at, first + at, BH_PAGE_BYTES, SPACE_DATA) != SPACE_OK)
			return 0;
		memory_write(mapping_entry(start + at), mapping_entry_to(first + at));
	}
	memory_forget();
	return start + physical % BH_PAGE_BYTES;
}

uint64_t *mapping_entry(uint64_t virtual)
{
	return space_entry(&kernel_space, virtual, SPACE_PAGE_SHIFT);
}

uint64_t mapping_entry_to(uint64_t physical)
{
	return leads_to(physical, every_right());
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
	const uint64_t entry[AIM_PAGES] = { mapping_entry_to(physical), leads_to(physical, space_format.leaf[SPACE_DEVICE]) };
	uint64_t window;

	*graft_entry() = 0;
	window = aim(entry);
	*graft_entry() = (physical & SPACE_ADDRESS_MASK & -(1ULL << WHOLE_SHIFT)) | every_right() | space_format.large;
	memory_publish();
	return window + physical % BH_PAGE_BYTES;
}

uint64_t mapping_graft(uint64_t table)
{
	*graft_entry() = (table & SPACE_ADDRESS_MASK) | space_format.table;
	memory_publish();
	return graft_start();
}
