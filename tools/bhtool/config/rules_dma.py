# SPDX-License-Identifier: Apache-2.0
"""The rules on functions that master the bus: behind an IOMMU, or, where a partition file asks for it, without one."""

from __future__ import annotations

from bhtool.config import check_allowed as allowed
from bhtool.config import check_iommu as iommu
from bhtool.config.rule import Rule

DMA_RULES = (
    Rule(
        "BH-R104",
        "The IOMMU of the board tree is the one of `board.h`.",
        "give `BOARD_IOMMU` of platforms/NAME/board.h and the node in the board tree the IOMMU that the machine has",
        iommu.as_the_header_says,
    ),
    Rule(
        "BH-R105",
        "An IOMMU tells functions of different owners apart that master the bus.",
        "give both to one sandbox; the machine cannot tell them apart",
        iommu.streams_apart,
    ),
    Rule(
        "BH-R106",
        "The IOMMU, and what leads functions to it, are described.",
        "correct the node or the map in the board tree: docs/boards.md shows both",
        iommu.described,
        unless=("BH-R104",),
    ),
    Rule(
        "BH-R107",
        "A function that masters the bus has its own number as its stream.",
        "this version does not support it: take the device out of `access`",
        iommu.has_own_number,
        unless=("BH-R105",),
    ),
    Rule(
        "BH-R108",
        "On ARM functions interrupt by lines, not by messages.",
        "take `msi-parent` or `msi-map` out of the board tree, and give the function its line: `interrupts`",
        iommu.interrupts_by_lines,
    ),
    Rule(
        "BH-R109",
        "On a PC a sandbox whose functions master the bus has one core.",
        "this version does not support it: leave the sandbox one core, or take the device out of `access`",
        iommu.messages_to_one_core,
    ),
    Rule(
        "BH-R113",
        "The IOMMU reaches the RAM of sandboxes whose functions master the bus.",
        "make the memory region smaller, or pin it lower (`reg`)",
    ),
    Rule(
        "BH-R115",
        "Who sees DMA faults is on a machine whose IOMMU records them in memory.",
        "take `sees-dma-faults` out",
        iommu.records_faults,
    ),
    Rule(
        "BH-R124",
        "A virtio function that is granted obeys the IOMMU.",
        "take it out of `access`; or give it VIRTIO_F_ACCESS_PLATFORM, in QEMU `iommu_platform=on,disable-legacy=on`, then say so in the board tree: bulkhead,iommu-platform",
        iommu.obeys,
    ),
    Rule(
        "BH-R120",
        "DMA without an IOMMU is asked for with a reason.",
        'write why: `allow-unprotected-dma = "reason";`',
        allowed.says_why,
    ),
    Rule(
        "BH-R121",
        "DMA without an IOMMU is asked for only where a function needs it.",
        "take out `allow-unprotected-dma`",
        allowed.is_needed,
        unless=("BH-R040", "BH-R049", "BH-R120", "BH-R124"),
    ),
    Rule(
        "BH-R126",
        "DMA without an IOMMU is for a machine without one.",
        "give the function a row in `iommu-map` of the board tree, and take out `allow-unprotected-dma`",
        allowed.has_no_iommu,
        unless=("BH-R104",),
    ),
    Rule(
        "BH-R122",
        "At most one sandbox has DMA without an IOMMU.",
        "give the functions to one sandbox: what one of them reaches, nobody could tell from what another does",
        allowed.one_asks,
    ),
    Rule(
        "BH-R123",
        "Who has DMA without an IOMMU knows the machine's addresses of its RAM.",
        "pin its memory region (`reg`) at the board's `guest-ram`, where that is free, or drive the function by a native sandbox with a region of its own",
    ),
)

DMA_WARNINGS = (
    Rule(
        "BH-W094",
        "Every function that masters the bus is behind an IOMMU.",
        "take the function out of `access`, or choose a board with an IOMMU",
        allowed.exposes,
        unless=("BH-R126",),
    ),
)
