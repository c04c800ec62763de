/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the IOMMUs that boards of this family have. */
#include "hal/iommu/amdvi.h"

const struct iommu_boot *const iommu_backends[] = { &amdvi_boot, NULL };
