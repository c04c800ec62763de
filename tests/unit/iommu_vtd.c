/* SPDX-License-Identifier: Apache-2.0 */
/* Two files by other names, so that mutations (tests/mutation/host_programs.py) compile them for the board with VT-d. */
#include "hal/iommu/iommu_boot.c"
#include "hal/iommu/backends_x86_boot.c"
