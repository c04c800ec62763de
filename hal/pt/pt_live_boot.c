/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: what the resident editor will need, made before the partition is sealed. */
#include "hal/pt/pt_live.h"
#include "hal/pt/walk.h"

void pt_live_create(struct pt_live *live, const struct pt *pt, uint32_t core_count)
{
	*live = (struct pt_live){ .root = pt->root, .oa_bits = pt->oa_bits, .core_count = core_count };
	live->format = *pt->format;
}

static bool is_reserved(const struct pt_live *live, uint64_t ia, uint64_t size)
{
	for (const struct pt_live_range *range = live->ranges; range < live->ranges + live->range_count; range++)
		if (ia < range->ia + range->size && range->ia < ia + size)
			return true;
	return false;
}

enum hal_status pt_live_reserve(struct pt_live *live, struct pt *pt, uint64_t ia, uint64_t size, unsigned level)
{
	enum hal_status status;

	if (level >= live->format.levels - 1u || live->range_count == PT_LIVE_RANGES || pt_offset(ia | size, level))
		return HAL_E_RANGE;
	status = pt_reserve(pt, ia, size, level);
	if (status != HAL_OK)
		return status;
	if (is_reserved(live, ia, size))
		return HAL_E_OVERLAP;
	live->ranges[live->range_count++] = (struct pt_live_range){ ia, size, level };
	return HAL_OK;
}
