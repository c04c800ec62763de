/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the IOMMUs that boards of this family have, of which an image holds its own. */
#include "hal/iommu/amdvi.h"
#include "hal/iommu/iommu_live.h"
#include "hal/iommu/vtd.h"
#include "board.h"

const struct iommu_boot *iommu_backend(void)
{
	switch (board.iommu.kind) {
	case BH_IOMMU_AMDVI:
		return &amdvi_boot;
	case BH_IOMMU_VTD:
		return &vtd_boot;
	default:
		return NULL;
	}
}

const struct iommu_invalidations iommu_invalidations[] = { { &amdvi_resident, amdvi_invalidate, NULL },
							   { &vtd_resident, vtd_invalidate, vtd_write_back },
							   { NULL, NULL, NULL } };
