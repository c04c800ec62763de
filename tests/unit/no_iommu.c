/* SPDX-License-Identifier: Apache-2.0 */
/* The seam of hal/iommu for tests in which no function masters the bus. */
#include "check.h"
#include "hal/iommu/iommu.h"

const struct iommu *iommu;

enum hal_status iommu_create(struct iommu_view *view, struct hal_arena *arena, const struct hal_partition_config *config)
{
	return HAL_E_UNSUPPORTED;
}

enum hal_status iommu_map_both(struct pt *stage2, struct iommu_view *view, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
			       enum hal_memory memory)
{
	return HAL_E_UNSUPPORTED;
}

enum hal_status iommu_attach(struct iommu_view *view, uint32_t stream)
{
	return HAL_E_DENIED;
}

enum hal_status iommu_map(struct hal_space *space, const struct iommu_view *view)
{
	CHECK_EQ(view->count, 0);
	return HAL_OK;
}

const struct hal_part *iommu_parts(void)
{
	return NULL;
}
