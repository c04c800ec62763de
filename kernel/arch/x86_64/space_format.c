/* SPDX-License-Identifier: Apache-2.0 */
/* Long-mode paging: APM vol. 2, 5.3 "Long-Mode Page Translation", 5.4 "Page-Translation-Table Entry Fields". */
#include "kernel/core/space_format.h"

#define PRESENT       (1ULL << 0)
#define WRITE         (1ULL << 1)
#define USER          (1ULL << 2)
#define WRITE_THROUGH (1ULL << 3)
#define CACHE_DISABLE (1ULL << 4)
#define ACCESSED      (1ULL << 5)
#define DIRTY         (1ULL << 6)
#define LARGE         (1ULL << 7)
#define NO_EXECUTE    (1ULL << 63)

/* Accessed and dirty from the start: the walker has nothing to write. */
#define READ_ONLY (PRESENT | ACCESSED)
#define WRITABLE  (PRESENT | WRITE | ACCESSED | DIRTY | NO_EXECUTE)
#define UNCACHED  (WRITE_THROUGH | CACHE_DISABLE)

/*
 * The root's first entry, 512 GiB, is the kernel's; those up to the canonical limit are processes'. No process-context identifiers, and no
 * global pages: a MOV to CR3 forgets everything, so ASIDs only count spaces.
 */
const struct space_format space_format = {
	.root_shift = 39,
	.grants_end = 256ULL << 30,
	.user_start = 1ULL << 39,
	.end = (1ULL << 47) - 4096, /* a call in the last page would return to an address that is not canonical */
	.asids = 256,
	.leaf = {
		[SPACE_TEXT] = READ_ONLY,
		[SPACE_RODATA] = READ_ONLY | NO_EXECUTE,
		[SPACE_DATA] = WRITABLE,
		[SPACE_DEVICE] = WRITABLE | UNCACHED,
		[SPACE_USER_TEXT] = READ_ONLY | USER,
		[SPACE_USER_RODATA] = READ_ONLY | USER | NO_EXECUTE,
		[SPACE_USER_DATA] = WRITABLE | USER,
		[SPACE_USER_DEVICE] = WRITABLE | USER | UNCACHED,
	},
	.large = LARGE,
	.page = 0,
	.user_part = 0,
	.table = PRESENT | WRITE | USER | ACCESSED, /* a leaf decides */
	.kind_mask = LARGE,
	.kind_table = 0,
};
