/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the IOMMUs that boards of this family have, of which an image holds its own. */
#include "hal/iommu/iommu_live.h"
#include "hal/iommu/smmuv3.h"
#include "board.h"

const struct iommu_boot *iommu_backend(void)
{
	return board.iommu.kind == BH_IOMMU_SMMUV3 ? &smmuv3_boot : NULL;
}

const struct iommu_invalidations iommu_invalidations[] = { { &smmuv3, smmuv3_invalidate, NULL }, { NULL, NULL, NULL } };
