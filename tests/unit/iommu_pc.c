/* SPDX-License-Identifier: Apache-2.0 */
/* The file by another name, so that mutations of it (tests/mutation/host_programs.py) compile it for another board. */
#include "hal/iommu/iommu_boot.c"
