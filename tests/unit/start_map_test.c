/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F5.board. The start-up map, arch/arm/start_map_boot.c, read as the processor reads it: every 2 MiB of the first eight GiB is memory
 * where the board has RAM, a device elsewhere below 4 GiB, and nothing above. Words from ARM ARM D8.3 "Translation table descriptor
 * formats".
 */
#include <string.h>

#include "arch/arm/start_map.h"
#include "check.h"

#define MiB (UINT64_C(1) << 20)
#define GiB (UINT64_C(1) << 30)

enum { TABLES = 4, SEEN = 8 };
#define MEMORY UINT64_C(0x0000000000000741) /* a block: AF, inner shareable, Attr0 */
#define DEVICE UINT64_C(0x0040000000000445) /* a block: XN, AF, Attr1 */

static uint64_t root[START_MAP_ENTRIES];
static struct start_map_table tables[TABLES];

/* What the block that translates `address` says, its address included. */
static uint64_t walk(uint64_t address)
{
	uint64_t entry = root[address / GiB];

	if ((entry & 3) != 3)
		return entry ? entry + address % GiB : 0;
	CHECK((entry & ~UINT64_C(3)) >= (uintptr_t)tables && (entry & ~UINT64_C(3)) < (uintptr_t)(tables + TABLES));
	return ((const struct start_map_table *)(uintptr_t)(entry & ~UINT64_C(3)))->entries[address % GiB / (2 * MiB)];
}

static bool in_any(struct board_spans ram, uint64_t address)
{
	for (uint32_t n = 0; n < ram.count; n++)
		if (address >= ram.at[n].start && address + 2 * MiB <= ram.at[n].start + ram.at[n].bytes)
			return true;
	return false;
}

static void check_map(const char *board, struct board_spans ram, unsigned used)
{
	unsigned found = 0;

	check_context.subject = board;
	memset(root, 0, sizeof(root));
	memset(tables, 0, sizeof(tables));
	start_map_fill(root, tables, ram);
	for (uint64_t address = 0; address < SEEN * GiB; address += 2 * MiB) {
		check_context.round = (unsigned)(address / MiB);
		CHECK_EQ(walk(address), in_any(ram, address) ? (address | MEMORY) : address < 4 * GiB ? (address | DEVICE) : 0);
	}
	for (unsigned n = 0; n < SEEN; n++)
		found += (root[n] & 3) == 3;
	CHECK_EQ(found, used);
}

int main(void)
{
	static const struct board_span virt[] = { { GiB, 2 * GiB } };
	static const struct board_span pi[] = { { 0, 960 * MiB } };
	static const struct board_span two[] = { { GiB / 2, GiB }, { 2 * GiB + 2 * MiB, 2 * MiB } };
	static const struct board_span one_gib[] = { { 0, 2 * MiB }, { 512 * MiB, 512 * MiB } };
	static const struct board_span high[] = { { 0, 2 * GiB }, { 4 * GiB + 512 * MiB, 2 * GiB } };
	static const struct board_span odd[] = { { GiB + MiB, 5 * MiB } };

	check_map("whole GiB", (struct board_spans){ virt, 1 }, 0);
	check_map("960 MiB", (struct board_spans){ pi, 1 }, 1);
	check_map("two spans", (struct board_spans){ two, 2 }, 3);
	check_map("two spans in a GiB", (struct board_spans){ one_gib, 2 }, 1);
	check_map("RAM above 4 GiB", (struct board_spans){ high, 2 }, 2);
	check_map("no multiple of 2 MiB", (struct board_spans){ odd, 1 }, 1);
	return 0;
}
