# SPDX-License-Identifier: Apache-2.0
"""Mistakes about functions that master the bus without an IOMMU, on the board of tests/emulated/open_board.py."""

from tests.emulated.case import GICV3
from tests.emulated.open_board import PERMISSION
from tests.mutation.machine_mutation import MachineMutation

OFFSET = "(seen && ram ? seen->gpa - ram->gpa : 0)"
OPEN = (
    MachineMutation(
        "a driver goes by its own addresses without an IOMMU",
        "kernel/core/info.c",
        OFFSET,
        "(seen && ram ? 0 : 0)",
        "open-own",
        GICV3,
        "'dma-write=.*' gave 'returned 0x0'",
    ),
    MachineMutation(
        "a driver adds the offset the other way round",
        "kernel/core/info.c",
        OFFSET,
        OFFSET.replace("seen->gpa - ram->gpa", "ram->gpa - seen->gpa"),
        "open-own",
        GICV3,
        "'dma-write=.*' gave 'returned 0x0'",
    ),
    MachineMutation(
        "a function masters the bus that nobody let",
        "hal/pci/functions_boot.c",
        "(function->dma != BH_DMA_FREE ? PCI_COMMAND_MASTER : 0)",
        "PCI_COMMAND_MASTER",
        PERMISSION,
        GICV3,
        "'dma-write=.*' gave 'returned 0x1'",
    ),
    MachineMutation(
        "a function without an IOMMU masters the bus after its sandbox's life",
        "hal/pci/filter.c",
        "pci_config_write(place + PCI_COMMAND, PCI_SILENT | always);",
        "",
        "open-ended",
        GICV3,
        "PCI function 0x8 has command",
    ),
)
