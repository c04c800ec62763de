/* SPDX-License-Identifier: Apache-2.0 */
/* PL1 stage 1 with the large physical address extension: ARMv7 ARM B3.6 "Long-descriptor translation table format". */
#include "kernel/core/space_format.h"

#include "memory_types.h"

/* B3.6.2 "Memory attributes in the Long-descriptor translation table format descriptors" */
#define ATTR_INDEX(n) ((uint64_t)(n) << 2)
#define AP_USER       (1ULL << 6)
#define AP_READ_ONLY  (1ULL << 7)
#define SH_INNER      (3ULL << 8)
#define AF            (1ULL << 10)
#define NG            (1ULL << 11)
#define PXN           (1ULL << 53)
#define XN            (1ULL << 54)
#define NORMAL        (ATTR_INDEX(MAIR_NORMAL) | SH_INNER | AF)
#define DEVICE        (ATTR_INDEX(MAIR_DEVICE) | AF | XN)

/* XN alone keeps both modes from executing; PXN the kernel, too. The root has four entries: processes have the upper two. */
const struct space_format space_format = {
	.root_shift = 30,
	.grants_end = 2ULL << 30,
	.user_start = 2ULL << 30,
	.end = 4ULL << 30,
	.asids = 256,
	.leaf = {
		[SPACE_TEXT] = NORMAL | AP_READ_ONLY,
		[SPACE_RODATA] = NORMAL | AP_READ_ONLY | XN,
		[SPACE_DATA] = NORMAL | XN,
		[SPACE_DEVICE] = DEVICE,
		[SPACE_USER_TEXT] = NORMAL | AP_READ_ONLY | AP_USER | PXN,
		[SPACE_USER_RODATA] = NORMAL | AP_READ_ONLY | AP_USER | XN,
		[SPACE_USER_DATA] = NORMAL | AP_USER | XN,
		[SPACE_USER_DEVICE] = DEVICE | AP_USER,
	},
	.large = 1,
	.page = 3,
	.user_part = NG,
	.table = 3,
	.kind_mask = 2,
	.kind_table = 2,
};
