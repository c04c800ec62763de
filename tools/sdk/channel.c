/* SPDX-License-Identifier: Apache-2.0 */
/* Channels by name (bulkhead.h). */
#include <stddef.h>

#include "abi/channel_inline.h"
#include "bulkhead.h"
#include "reach.h"

/* As BH_CALL_OPEN counts: among the rows of channels, from 0 on. */
static uint64_t number_of(const struct bh_info *info, const struct bh_grant *channel)
{
	uint64_t number = 0;

	for (const struct bh_grant *grant = info->grants; grant != channel; grant++)
		if (grant->kind == BH_GRANT_CHANNEL)
			number++;
	return number;
}

enum bulkhead_status bulkhead_channel_open(const struct bh_info *info, const char *name, struct bh_end *end)
{
	const struct bh_grant *grant = bulkhead_grant(info, BH_GRANT_CHANNEL, name);

	if (!grant)
		return BULKHEAD_E_ABSENT;
	if (grant->size > REACH_END || grant->gpa > REACH_END - grant->size)
		return BULKHEAD_E_RANGE;
	if (grant->flags & BH_CHANNEL_ON_REQUEST && bulkhead_call(BH_CALL_OPEN, number_of(info, grant)) != BH_OK)
		return BULKHEAD_E_DENIED;
	if (bh_end_attach(end, (void *)(uintptr_t)grant->gpa, grant->size, grant->line, grant->vector) != BH_END_OK)
		return BULKHEAD_E_INVALID;
	return BULKHEAD_OK;
}
