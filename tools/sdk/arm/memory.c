/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MMU and caches of AArch64 and ARMv7 (bulkhead.h). Tables of what was granted, one to one: long descriptors, 4 KiB granule, ARM ARM
 * D8.3 "Translation table descriptor formats"; ARMv7 ARM B3.6 "Long-descriptor translation table format". They are written before the MMU
 * is on.
 *
 *   tables[0]                512 entries of 1 GiB, each a table or a hole
 *   └─ by 2 MiB              a block, a table or a hole
 *      └─ by 4 KiB           a page or a hole
 */
#include <stdbool.h>
#include <stddef.h>

#include "bulkhead.h"
#include "memory_hw.h"
#include "reach.h"

enum { PAGE_SHIFT = 12, BLOCK_SHIFT = 21, ROOT_SHIFT = 30, ENTRY_BITS = 9 };

/* Bits 1:0 */
enum { BLOCK = 1, TABLE = 3, PAGE = 3, KIND = 3 };

/* Attributes of blocks and pages. ARM ARM D8.4 "Memory access control", D8.5 "Memory region attributes"; ARMv7 ARM B3.6.2 "Memory
 * attributes in the Long-descriptor translation table format" */
#define ATTR_INDEX(n)  ((uint64_t)(n) << 2)
#define AP_READ_ONLY   (UINT64_C(1) << 7)
#define SH_INNER       (UINT64_C(3) << 8)
#define AF             (UINT64_C(1) << 10)
#define NEVER_EXECUTED (UINT64_C(3) << 53) /* PXN and UXN; ARMv7: PXN and XN */
#define NORMAL         (ATTR_INDEX(MAIR_NORMAL) | SH_INNER | AF)

#define RAM       NORMAL /* a program's segments lie anywhere in it */
#define DATA      (NORMAL | NEVER_EXECUTED)
#define READ_ONLY (NORMAL | NEVER_EXECUTED | AP_READ_ONLY)
#define DEVICE    (ATTR_INDEX(MAIR_DEVICE) | AF | NEVER_EXECUTED)

enum { TABLE_ENTRIES = 1 << ENTRY_BITS, TABLES = 16 };

static _Alignas(BH_PAGE_BYTES) uint64_t tables[TABLES][TABLE_ENTRIES];
static uint32_t used;

static uint64_t *take(void)
{
	uint64_t *table;

	if (used == TABLES)
		return NULL;
	table = tables[used++];
	for (uint32_t n = 0; n < TABLE_ENTRIES; n++)
		table[n] = 0;
	return table;
}

/* The entry for `address` in the table whose entries translate 1 << shift bytes; NULL: there is no table for it. */
static uint64_t *entry_below(uint64_t *entry, uint64_t address, unsigned shift)
{
	uint64_t *table;

	if (!*entry) {
		table = take();
		if (!table)
			return NULL;
		*entry = (uintptr_t)table | TABLE;
	}
	table = (uint64_t *)(uintptr_t)(*entry & ~(uint64_t)(BH_PAGE_BYTES - 1));
	return &table[(address >> shift) % TABLE_ENTRIES];
}

static bool fits_block(uint64_t at, uint64_t end)
{
	return at % (UINT64_C(1) << BLOCK_SHIFT) == 0 && end - at >= UINT64_C(1) << BLOCK_SHIFT;
}

/* Maps what begins at `at`, a block or a page, unless it is mapped. Returns how many bytes that are; 0: there is no table for it. */
static uint64_t map_one(uint64_t at, uint64_t end, uint64_t attributes)
{
	uint64_t *entry = entry_below(&tables[0][at >> ROOT_SHIFT], at, BLOCK_SHIFT);
	const uint64_t block = UINT64_C(1) << BLOCK_SHIFT;

	if (!entry)
		return 0;
	if (!*entry && fits_block(at, end)) {
		*entry = at | attributes | BLOCK;
		return block;
	}
	if ((*entry & KIND) == BLOCK)
		return block - at % block;
	entry = entry_below(entry, at, PAGE_SHIFT);
	if (!entry)
		return 0;
	if (!*entry)
		*entry = at | attributes | PAGE;
	return BH_PAGE_BYTES;
}

/* The pages that hold [address, address + size). */
static enum bulkhead_status map(uint64_t address, uint64_t size, uint64_t attributes)
{
	uint64_t at = address & ~(uint64_t)(BH_PAGE_BYTES - 1), bytes;

	if (size > REACH_END || address > REACH_END - size)
		return BULKHEAD_E_RANGE;
	for (; at < address + size; at += bytes) {
		bytes = map_one(at, address + size, attributes);
		if (!bytes)
			return BULKHEAD_E_NOMEM;
	}
	return BULKHEAD_OK;
}

/* Its own area alone is an end's to write, and the page between both areas nobody's: abi/channel.h. */
static enum bulkhead_status map_channel(const struct bh_grant *grant)
{
	const uint64_t first = grant->vector ? grant->line + BH_PAGE_BYTES : grant->line;
	const enum bulkhead_status status = map(grant->gpa, first, grant->vector ? READ_ONLY : DATA);

	return status == BULKHEAD_OK ? map(grant->gpa + first, grant->size - first, grant->vector ? DATA : READ_ONLY) : status;
}

/* Rows of other kinds grant no memory. A PCI function's size is 0 where its configuration registers are not memory. */
static enum bulkhead_status map_grant(const struct bh_grant *grant)
{
	switch (grant->kind) {
	case BH_GRANT_RAM:
		return map(grant->gpa, grant->size, RAM);
	case BH_GRANT_LOG:
		return map(grant->gpa, grant->size, DATA);
	case BH_GRANT_FOREIGN_LOG:
	case BH_GRANT_STATS:
	case BH_GRANT_DMA_FAULTS:
		return map(grant->gpa, grant->size, READ_ONLY);
	case BH_GRANT_DEVICE:
	case BH_GRANT_IRQCHIP:
	case BH_GRANT_PCI_FUNCTION:
		return map(grant->gpa, grant->size, DEVICE);
	case BH_GRANT_CHANNEL:
		return map_channel(grant);
	default:
		return BULKHEAD_OK;
	}
}

/* Nothing but what is granted, and the page that says so. Where two grants meet in a page, the first one has it. */
static enum bulkhead_status make_tables(const struct bh_info *info)
{
	enum bulkhead_status status;

	used = 0;
	(void)take(); /* the root */
	status = map((uintptr_t)info, sizeof(*info), READ_ONLY);
	for (uint32_t n = 0; status == BULKHEAD_OK && n < info->grant_count; n++)
		status = map_grant(&info->grants[n]);
	return status;
}

/* What was written with caches off, tables and stack among it, must not be hidden by lines that they hold from before. */
static void forget_cached(const struct bh_info *info)
{
	for (uint32_t n = 0; n < info->grant_count; n++)
		if (info->grants[n].kind == BH_GRANT_RAM || info->grants[n].kind == BH_GRANT_LOG)
			memory_hw_forget_cached(info->grants[n].gpa, info->grants[n].size);
}

enum bulkhead_status bulkhead_memory_on(const struct bh_info *info)
{
	static bool on;
	enum bulkhead_status status;

	if (on)
		return BULKHEAD_OK;
	status = make_tables(info);
	if (status != BULKHEAD_OK)
		return status;
	on = true;
	forget_cached(info);
	memory_hw_turn_on(tables[0]);
	return BULKHEAD_OK;
}
