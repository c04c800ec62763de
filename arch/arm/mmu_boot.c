/* SPDX-License-Identifier: Apache-2.0 */
/* The start-up map: start_map.h. ARM ARM D8.3 "Translation table descriptor formats"; ARMv7's long descriptors are the same words. */
#include "arch/arm/start_map.h"

#include "abi/table.h"
#include "arch/arm/start_stacks.h"
#include "board.h"

/* A core reads the map before its caches are on, and so it is written before the boot core's are. Nobody changes it afterwards. */
extern uint64_t start_map[START_MAP_ENTRIES];
_Alignas(4096) uint64_t start_map[START_MAP_ENTRIES];
static struct start_map_table tables[2 * BOARD_SPAN_COUNT(BOARD_RAM)];

_Static_assert(START_CORES == BH_MAX_CORES, "entry_boot.S has a stack for each core that a table may name");

void start_map_make(void)
{
	start_map_fill(start_map, tables, board.ram);
}
