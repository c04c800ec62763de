/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: the board's IOMMU, as start-up found it. */
#include "hal/iommu/iommu.h"

const struct iommu *iommu;
