/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cores see while the machine starts, one to one: RAM as memory, all else below 4 GiB as devices. Entries of 1 GiB, and of 2 MiB in a
 * GiB that RAM fills in part. Shared by both generations: ARMv7, whose addresses are shorter, reads the first four entries.
 */
#pragma once
#include <stdint.h>

#include "arch/board.h"

enum { START_MAP_ENTRIES = 512, START_MAP_DEVICE_ENTRIES = 4 };

struct start_map_table {
	_Alignas(4096) uint64_t entries[START_MAP_ENTRIES];
};

/*
 * Writes the map of a board with this RAM.
 * Requires: the root and all tables are zeros; there are two tables for each span, which is the most that its two ends can take; spans are
 * in multiples of 2 MiB and below 512 GiB. What of a span is not, is left out, so its RAM is device memory to start-up.
 */
void start_map_fill(uint64_t root[START_MAP_ENTRIES], struct start_map_table *tables, struct board_spans ram);

/* The board's own. Called by entry_boot.S on the boot core, with MMU and caches off and the tables zeroed. */
void start_map_make(void);
