/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: what the resident editor of the IOMMU's root will need. */
#include "hal/iommu/iommu_live.h"

void iommu_live_create(struct iommu_live *live, const struct iommu_view *view)
{
	const struct iommu_invalidations *row = iommu_invalidations;

	while (row->of != iommu)
		row++;
	live->view = view;
	live->invalidate = row->invalidate;
	live->write_back = row->write_back;
	pt_live_create(&live->tables, &view->pt, 1);
}

enum hal_status iommu_live_reserve(struct iommu_live *live, struct iommu_view *view, uint64_t gpa, uint64_t size, unsigned level)
{
	return pt_live_reserve(&live->tables, &view->pt, gpa, size, level);
}
