/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: BH-I1.dma. The editor of the IOMMU's root; iommu_live.h has the contracts. */
#include "hal/iommu/iommu_live.h"

#include "hal/pt/walk.h"

enum { THE_IOMMU }; /* the only slot of its tables */

enum hal_status iommu_live_put(struct iommu_live *live, uint64_t gpa, hpa_t hpa, uint64_t size)
{
	enum hal_status status = pt_live_put(&live->tables, gpa, hpa, size, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM);

	if (status == HAL_OK && live->write_back)
		live->write_back(&live->tables, gpa, size);
	return status;
}

/* Leaves of one size: pt_live_take has looked. */
static uint64_t leaf_at(const struct pt_live *tables, uint64_t gpa)
{
	const struct pt_live_range *range = tables->ranges;

	while (gpa - range->ia >= range->size)
		range++;
	return pt_span(range->level);
}

enum hal_status iommu_live_take(struct iommu_live *live, uint32_t self, uint64_t gpa, uint64_t size)
{
	enum hal_status status = pt_live_is_clear(&live->tables) ? pt_live_take(&live->tables, gpa, size) : HAL_E_DENIED;
	uint32_t generation;

	if (status != HAL_OK || !pt_live_pending(&live->tables, THE_IOMMU, &generation))
		return status;
	if (live->write_back)
		live->write_back(&live->tables, gpa, size);
	if (!live->invalidate(live->view, self, gpa, size, leaf_at(&live->tables, gpa)))
		return HAL_E_UNSUPPORTED;
	pt_live_acknowledge(&live->tables, THE_IOMMU, generation);
	return HAL_OK;
}
