/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start-up map: the first four GiB one to one, RAM as memory, all else as devices. Const, so a core can walk it before
 * its caches are on. ARM ARM D8.3 "Translation table descriptor formats"; ARMv7, whose addresses are shorter, reads the first
 * four entries of the same format.
 */
#include <stdint.h>

#include "board.h"
#include "mmu.h"

#define GiB             (UINT64_C(1) << 30)
#define BLOCK           (UINT64_C(1) << 10 /* AF */ | UINT64_C(1) << 6 /* AP[1], RES1 */ | 1 /* block */)
#define MEMORY          (BLOCK | UINT64_C(3) << 8 /* inner shareable */ | UINT64_C(0) << 2 /* Attr0 */)
#define DEVICE          (BLOCK | UINT64_C(1) << 54 /* XN */ | UINT64_C(1) << 2 /* Attr1 */)
#define IS_RAM(address) ((address) >= BOARD_RAM_BASE && (address) < BOARD_RAM_BASE + BOARD_RAM_BYTES)
#define BLOCK_OF(gib)   ((gib) * GiB | (IS_RAM((gib) * GiB) ? MEMORY : DEVICE))

extern const uint64_t start_map[512];
_Alignas(4096) const uint64_t start_map[512] = { BLOCK_OF(0), BLOCK_OF(1), BLOCK_OF(2), BLOCK_OF(3) };

_Static_assert(BOARD_RAM_BASE % GiB == 0 && BOARD_RAM_BYTES % GiB == 0 && BOARD_RAM_BASE + BOARD_RAM_BYTES <= 4 * GiB,
	       "the start-up map knows whole GiB below 4 GiB");
