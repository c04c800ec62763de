/* SPDX-License-Identifier: Apache-2.0 */
/* Paging and caches are on at entry: docs/guest.md. */
#include "bulkhead.h"

enum bulkhead_status bulkhead_memory_on(const struct bh_info *info)
{
	(void)info;
	return BULKHEAD_OK;
}
