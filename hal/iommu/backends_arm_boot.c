/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the IOMMUs that boards of this family have. */
#include "hal/iommu/smmuv3.h"

const struct iommu_boot *const iommu_backends[] = { &smmuv3_boot, NULL };
