/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: which IOMMU there is. iommu_missing has chosen it before private monitors were copied. */
#include "hal/iommu/iommu.h"

const struct iommu *iommu;
