/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F2.foreign. The tables that guests of the SDK are given: what is granted, in literal words of the manual, and nothing else; and that
 * what does not fit changes nothing. tools/sdk/arm/memory.c
 */
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "tools/sdk/arm/memory_hw.h"
#include "tools/sdk/bulkhead.h"

#define INFO_AT 0x0c001000UL

enum { ENTRIES = 512, MOST_RANGES = 8 };

/* What the processor was told. */
static struct {
	const uint64_t *root;
	unsigned times, ranges;
	uint64_t range[MOST_RANGES][2];
} told;

void memory_hw_forget_cached(uint64_t start, uint64_t bytes)
{
	CHECK(told.ranges < MOST_RANGES);
	CHECK(!told.root);
	told.range[told.ranges][0] = start;
	told.range[told.ranges++][1] = bytes;
}

void memory_hw_turn_on(const uint64_t *root)
{
	told.root = root;
	told.times++;
}

static void grant(struct bh_info *info, uint32_t kind, uint64_t gpa, uint64_t size, uint32_t line, uint32_t vector)
{
	info->grants[info->grant_count++] = (struct bh_grant){ .kind = kind, .gpa = gpa, .size = size, .line = line, .vector = vector };
}

static const uint64_t *below(const uint64_t *table, unsigned index)
{
	CHECK_EQ(table[index] & 0xfff, 3);
	return (const uint64_t *)(uintptr_t)(table[index] & ~0xfffULL);
}

/* Entries that are no holes. */
static unsigned count(const uint64_t *table)
{
	unsigned found = 0;

	for (unsigned n = 0; n < ENTRIES; n++)
		found += table[n] != 0;
	return found;
}

/* A root, one table of 1 GiB and one of each 2 MiB are as many as there are; one grant more is one too many. */
static void what_needs_too_many_tables_changes_nothing(struct bh_info *info)
{
	info->grant_count = 0;
	for (uint64_t n = 0; n < 14; n++) /* and that of the information page */
		grant(info, BH_GRANT_DEVICE, 0x10000000 + n * 0x200000, 0x1000, 0, 0);
	CHECK_EQ(bulkhead_memory_on(info), BULKHEAD_E_NOMEM);
	CHECK_EQ(told.times + told.ranges, 0);
}

static void what_lies_too_high_changes_nothing(struct bh_info *info)
{
	info->grant_count = 0;
	grant(info, BH_GRANT_RAM, (1ULL << 39) - 0x1000, 0x2000, 0, 0);
	CHECK_EQ(bulkhead_memory_on(info), BULKHEAD_E_RANGE);
	info->grant_count = 0;
	grant(info, BH_GRANT_RAM, 0, UINT64_MAX - 0xfff, 0, 0);
	CHECK_EQ(bulkhead_memory_on(info), BULKHEAD_E_RANGE);
	CHECK_EQ(told.times + told.ranges, 0);
}

static void make_grants(struct bh_info *info)
{
	info->grant_count = 0;
	grant(info, BH_GRANT_RAM, 0x40000000, 0x401000, 0, 0);
	grant(info, BH_GRANT_LOG, 0x0c004000, 0x2000, 0, 0);
	grant(info, BH_GRANT_STATS, 0x0c000000, 0x1000, 0, 0);
	grant(info, BH_GRANT_FOREIGN_LOG, 0x0c010000, 0x1000, 0, 0);
	grant(info, BH_GRANT_DMA_FAULTS, 0x0c008000, 0x1000, 0, 0);
	grant(info, BH_GRANT_DMA_FAULTS, 0x0c008000, 0x1000, 0, 0);
	grant(info, BH_GRANT_CHANNEL, 0x0c100000, 0x3000, 0x1000, 0);
	grant(info, BH_GRANT_CHANNEL, 0x0c103000, 0x3000, 0x1000, 1);
	grant(info, BH_GRANT_DEVICE, 0x09000ff8, 0x10, 0, 0);
	grant(info, BH_GRANT_DEVICE, 0x0c004800, 0x100, 0, 0); /* where the log is already */
	grant(info, BH_GRANT_IRQCHIP, 0x08000000, 0x200000, 0, 0);
	grant(info, BH_GRANT_DEVICE, 0x08001000, 0x1000, 0, 0); /* in a block */
	grant(info, BH_GRANT_PCI_FUNCTION, 0x4010000000, 0x1000, 0, 0);
	grant(info, BH_GRANT_PCI_FUNCTION, 0x50000000, 0, 0, 0);
	grant(info, BH_GRANT_DOORBELL, 100000, 100000, 0, 0);
	grant(info, BH_GRANT_VCPU, 1000000, 1000000, 0, 0);
	grant(info, BH_GRANT_DMA_RAM, 0x60000000, 0x1000, 0, 0);
}

static void check_window(const uint64_t *low)
{
	const uint64_t *window = below(low, 0x60);

	CHECK_EQ(window[0x00], 0x006000000c000787); /* statistics: normal, inner shareable, read-only, never executed */
	CHECK_EQ(window[0x01], 0x006000000c001787); /* the information page */
	CHECK_EQ(window[0x04], 0x006000000c004707); /* log: written, too */
	CHECK_EQ(window[0x05], 0x006000000c005707);
	CHECK_EQ(window[0x08], 0x006000000c008787);
	CHECK_EQ(window[0x10], 0x006000000c010787);
	CHECK_EQ(window[0x100], 0x006000000c100707); /* end 0 writes the first area */
	CHECK_EQ(window[0x101], 0x006000000c101787);
	CHECK_EQ(window[0x102], 0x006000000c102787);
	CHECK_EQ(window[0x103], 0x006000000c103787);
	CHECK_EQ(window[0x104], 0x006000000c104787);
	CHECK_EQ(window[0x105], 0x006000000c105707); /* end 1 the last one */
	CHECK_EQ(count(window), 12);
}

static void what_is_granted_is_mapped_and_nothing_else(struct bh_info *info)
{
	const uint64_t *low, *ram, *registers;

	make_grants(info);
	CHECK_EQ(bulkhead_memory_on(info), BULKHEAD_OK);
	CHECK_EQ(count(told.root), 3);
	low = below(told.root, 0);
	CHECK_EQ(count(low), 3);
	CHECK_EQ(low[0x40], 0x0060000008000401); /* a block of device registers */
	registers = below(low, 0x48);
	CHECK_EQ(registers[0], 0x0060000009000403);
	CHECK_EQ(registers[1], 0x0060000009001403); /* a grant over the edge of a page */
	CHECK_EQ(count(registers), 2);
	check_window(low);
	ram = below(told.root, 1);
	CHECK_EQ(count(ram), 3);
	CHECK_EQ(ram[0], 0x40000705); /* normal, written and executed */
	CHECK_EQ(ram[1], 0x40200705);
	CHECK_EQ(count(below(ram, 2)), 1);
	CHECK_EQ(below(ram, 2)[0], 0x40400707);
	CHECK_EQ(count(below(told.root, 0x100)), 1);
	CHECK_EQ(below(below(told.root, 0x100), 0x80)[0], 0x0060004010000403);
}

/* With caches off the program has written RAM and log. */
static void caches_forget_what_was_written(void)
{
	CHECK_EQ(told.ranges, 2);
	CHECK_EQ(told.range[0][0], 0x40000000);
	CHECK_EQ(told.range[0][1], 0x401000);
	CHECK_EQ(told.range[1][0], 0x0c004000);
	CHECK_EQ(told.range[1][1], 0x2000);
	CHECK_EQ(MAIR_VALUE, 0xff04);
}

static void a_second_time_changes_nothing(struct bh_info *info)
{
	grant(info, BH_GRANT_RAM, 1ULL << 39, 0x1000, 0, 0);
	CHECK_EQ(bulkhead_memory_on(info), BULKHEAD_OK);
	CHECK_EQ(told.times, 1);
	CHECK_EQ(count(told.root), 3);
}

int main(void)
{
	struct bh_info *info = mmap((void *)INFO_AT, BH_PAGE_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	CHECK_EQ((uintptr_t)info, INFO_AT);
	what_needs_too_many_tables_changes_nothing(info);
	what_lies_too_high_changes_nothing(info);
	what_is_granted_is_mapped_and_nothing_else(info);
	caches_forget_what_was_written();
	a_second_time_changes_nothing(info);
	return 0;
}
