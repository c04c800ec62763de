# SPDX-License-Identifier: Apache-2.0
"""Mistakes about what functions reach by themselves, on machines that translate for them."""

from dataclasses import replace

from tests.emulated.case import ARMV7, GICV2, GICV3
from tests.mutation.machine_mutation import MachineMutation

AMDVI_START = "hal/iommu/amdvi_boot.c"
SMMU_START = "hal/iommu/smmuv3_boot.c"
# Beyond the attacker's own guest-physical addresses: RAM of all sandboxes.
EVERYBODYS = "pt_map(&view->pt, 0x42000000, (hpa_t){ 0x42000000 }, 0x20000000, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM)"
CREATE = "static enum hal_status create(struct iommu_view *view, struct hal_arena *arena) { return "
BEYOND = MachineMutation(
    "a function's root leads beyond its sandbox",
    SMMU_START,
    f"{CREATE}HAL_OK;",
    f"{CREATE}{EVERYBODYS};",
    "dma-write-foreign-ram",
    GICV3,
    "the card of attacker has written to 0x",
)
DMA = (
    BEYOND,
    *(replace(BEYOND, platform=name) for name in (GICV2, ARMV7)),
    replace(BEYOND, what="a function reads beyond its sandbox", caught_by="dma-read-foreign-ram", shows="gave 'returned 0x[1-9a-f]"),
    # Its rings, too, are then elsewhere than it was told.
    MachineMutation(
        "functions that are granted bypass the SMMU",
        "hal/iommu/smmuv3.c",
        "return change(view, self, SMMU_STE_TRANSLATE);",
        "return change(view, self, SMMU_STE_VALID | 4 << 1);",
        "dma-own",
        GICV3,
        "gave 'returned",
    ),
    MachineMutation(
        "a function's entry stays closed",
        "hal/arm/partition_boot.c",
        "(void)iommu_open(&partition->iommu, HAL_LOCK_START_UP);",
        "",
        "dma-own",
        GICV3,
        "gave 'returned",
    ),
)
