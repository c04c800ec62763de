/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: checks of hal.h's arguments that every machine makes alike, so that all of them return the same for the same mistake. */
#pragma once
#include "abi/table.h"
#include "hal/hal.h"

/* Returns HAL_E_RANGE unless there can be a sandbox of this number, with so many cores, of these numbers. */
static inline enum hal_status hal_check_config(const struct hal_partition_config *config)
{
	if (config->index >= BH_MAX_SANDBOXES || !config->core_count || config->core_count > BH_MAX_SANDBOX_CORES)
		return HAL_E_RANGE;
	for (uint32_t slot = 0; slot < config->core_count; slot++)
		if (config->cores[slot] >= BH_MAX_CORES)
			return HAL_E_RANGE;
	return HAL_OK;
}

/* Returns HAL_E_RANGE unless the range is whole pages, and at least one. */
static inline enum hal_status hal_check_pages(uint64_t start, uint64_t size)
{
	return !size || (start | size) % BH_PAGE_BYTES ? HAL_E_RANGE : HAL_OK;
}

/* Finds machine core `core` among the partition's; returns `count` if it is none of them. */
static inline uint32_t hal_slot_of(const uint32_t *cores, uint32_t count, uint32_t core)
{
	uint32_t slot = 0;

	while (slot < count && cores[slot] != core)
		slot++;
	return slot;
}

/* As the tool counts a pool's frames (PoolFrames, tools/bhtool/families); stretches of 64 bytes. */
enum { HAL_SMALL_UNIT = 64, HAL_SMALL_UNITS = BH_PAGE_BYTES / HAL_SMALL_UNIT };
#define HAL_UNITS_OF(type) ((sizeof(type) + HAL_SMALL_UNIT - 1) / HAL_SMALL_UNIT)
#define HAL_ASSERT_SMALL_FRAME(partition, space)                                                                         \
	_Static_assert(HAL_UNITS_OF(struct bh_crash) + HAL_UNITS_OF(partition) + HAL_UNITS_OF(space) <= HAL_SMALL_UNITS, \
		       "one frame holds the crash record, the partition and its monitor's space")
