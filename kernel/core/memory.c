/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/core/memory.h"

#include <stddef.h>

#include "kernel/core/fault.h"
#include "kernel/core/info.h"

enum { LARGE_SHIFT = 21, TABLES = 16 };

static _Alignas(BH_PAGE_BYTES) uint64_t root[MEMORY_ENTRIES];
static _Alignas(BH_PAGE_BYTES) uint64_t tables[TABLES][MEMORY_ENTRIES]; /* all zero until taken */
static size_t tables_taken;

/* kernel.lds */
extern const char text_start[], text_end[], rodata_end[], image_end[];

uint64_t *memory_root(void)
{
	return root;
}

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
	return (uint64_t *)(uintptr_t)(*entry & MEMORY_ADDRESS_MASK);
}

/*
 * Maps the largest leaf that begins at `virtual`, or finds one there, which stays as it is. Bytes covered from `virtual` on;
 * 0: out of tables.
 */
static uint64_t map_leaf(uint64_t virtual, uint64_t physical, uint64_t size, enum memory_type type)
{
	uint64_t *table = root;

	for (unsigned shift = MEMORY_ROOT_SHIFT; table; shift -= 9) {
		uint64_t *entry = &table[(virtual >> shift) % MEMORY_ENTRIES];
		uint64_t leaf_bytes = 1ULL << shift;
		bool last = shift == MEMORY_PAGE_SHIFT;

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

bool memory_map(uint64_t virtual, uint64_t physical, uint64_t size, enum memory_type type)
{
	uint64_t end = (virtual + size + BH_PAGE_BYTES - 1) & MEMORY_ADDRESS_MASK;

	virtual &= MEMORY_ADDRESS_MASK;
	physical &= MEMORY_ADDRESS_MASK;
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

static void map_or_stop(uint64_t address, uint64_t size, enum memory_type type)
{
	if (size > memory_reach_base || address > memory_reach_base - size || !memory_map(address, address, size, type))
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
