/* SPDX-License-Identifier: Apache-2.0 */
/* EL1 stage 1, 4 KiB granule, 39 bits of address: Arm ARM, D8.3 "Translation table descriptor formats". */
#include "kernel/core/space_format.h"

#include "memory_types.h"

/* "Block descriptor and Page descriptor attributes" of stage 1 */
#define ATTR_INDEX(n) ((uint64_t)(n) << 2)
#define AP_USER       (1ULL << 6)
#define AP_READ_ONLY  (1ULL << 7)
#define SH_INNER      (3ULL << 8)
#define AF            (1ULL << 10)
#define NG            (1ULL << 11)
#define PXN           (1ULL << 53)
#define UXN           (1ULL << 54)
#define NORMAL        (ATTR_INDEX(MAIR_NORMAL) | SH_INNER | AF)
#define DEVICE        (ATTR_INDEX(MAIR_DEVICE) | AF | UXN | PXN)

const struct space_format space_format = {
	.root_shift = 30,
	.grants_end = 256ULL << 30,
	.user_start = 256ULL << 30,
	.end = 1ULL << 39,
	.asids = 256,
	.leaf = {
		[SPACE_TEXT] = NORMAL | AP_READ_ONLY | UXN,
		[SPACE_RODATA] = NORMAL | AP_READ_ONLY | UXN | PXN,
		[SPACE_DATA] = NORMAL | UXN | PXN,
		[SPACE_DEVICE] = DEVICE,
		[SPACE_USER_TEXT] = NORMAL | AP_READ_ONLY | AP_USER | PXN,
		[SPACE_USER_RODATA] = NORMAL | AP_READ_ONLY | AP_USER | UXN | PXN,
		[SPACE_USER_DATA] = NORMAL | AP_USER | UXN | PXN,
		[SPACE_USER_DEVICE] = DEVICE | AP_USER,
	},
	.large = 1,
	.page = 3,
	.user_part = NG,
	.table = 3,
	.kind_mask = 2,
	.kind_table = 2,
};
