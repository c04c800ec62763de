/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the IOMMUs that boards of this family have. */
#include "hal/iommu/iommu.h"

const struct iommu_boot *iommu_backend(void)
{
	return NULL;
}
