/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: builds the tables of start_map.h from the board's RAM. */
#include "arch/arm/start_map.h"

#define MiB2   (UINT64_C(1) << 21)
#define GiB    (UINT64_C(1) << 30)
#define TABLE  UINT64_C(3)
#define BLOCK  (UINT64_C(1) << 10 /* AF */ | UINT64_C(1) << 6 /* AP[1], RES1 */ | 1 /* block */)
#define MEMORY (BLOCK | UINT64_C(3) << 8 /* inner shareable */ | UINT64_C(0) << 2 /* Attr0 */)
#define DEVICE (BLOCK | UINT64_C(1) << 54 /* XN */ | UINT64_C(1) << 2 /* Attr1 */)

/* The next table takes over what the GiB was: devices, or nothing. */
static struct start_map_table *split(uint64_t *root, uint64_t gib, struct start_map_table *next)
{
	for (uint64_t n = 0; root[gib] && n < START_MAP_ENTRIES; n++)
		next->entries[n] = root[gib] + n * MiB2;
	root[gib] = (uintptr_t)next | TABLE;
	return next + 1;
}

static bool is_table(uint64_t entry)
{
	return (entry & TABLE) == TABLE;
}

static struct start_map_table *add(uint64_t *root, struct start_map_table *next, struct board_span span)
{
	uint64_t end = span.start + span.bytes, step;

	for (uint64_t at = (span.start + MiB2 - 1) & ~(MiB2 - 1); at + MiB2 <= end && at < START_MAP_ENTRIES * GiB; at += step) {
		uint64_t gib = at / GiB;
		bool whole = at % GiB == 0 && end - at >= GiB;

		step = whole ? GiB : MiB2;
		if (whole) {
			root[gib] = at | MEMORY;
			continue;
		}
		if (!is_table(root[gib]))
			next = split(root, gib, next);
		((struct start_map_table *)(uintptr_t)(root[gib] & ~TABLE))->entries[at % GiB / MiB2] = at | MEMORY;
	}
	return next;
}

void start_map_fill(uint64_t root[START_MAP_ENTRIES], struct start_map_table *tables, struct board_spans ram)
{
	for (uint64_t gib = 0; gib < START_MAP_DEVICE_ENTRIES; gib++)
		root[gib] = gib * GiB | DEVICE;
	for (uint32_t n = 0; n < ram.count; n++)
		tables = add(root, tables, ram.at[n]);
}
