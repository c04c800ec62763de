# SPDX-License-Identifier: Apache-2.0
"""Mistakes in start-up's DMA of its own."""

from tests.mutation.mutation import Mutation

ENGINE = "hal/pci/engine_82574_boot.c"


def row(what: str, old: str, new: str) -> Mutation:
    return Mutation(what, ENGINE, old, new, "engine_test")


ENGINE_ROWS = (
    row("faults of start-up's own try keep others from being recorded", "iommu_clear_faults();", ""),
    row("what arrives is not looked at", "if (!has_changed())", "if (true)"),
    row("the card may not master the bus", "PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE", "PCI_COMMAND_MEMORY"),
    row("a frame may leave the machine", "RCTL_LBM_MAC | ", ""),
    row("the card stays awake", "pci_config_write(place_of(id, PCI_COMMAND), command);", ""),
    row("the card stays where it was asked", "pci_config_write(place_of(id, PCI_BASE_ADDRESS + 4 * n), bases[n]);", "(void)bases[n];"),
    row("the card keeps its rings", "(void)reset();", ""),
    row("a wait for the card has no bound", "for (unsigned turns = TURNS; turns; turns--)", "for (unsigned turns = TURNS; turns;)"),
    row("a card that sends nothing is a fault of the IOMMU", "(void)settles(TDBAL + RING_HEAD", "lab.sink[0] = !settles(TDBAL + RING_HEAD"),
    row("another function is named", "at[4] = digits[id >> 3 & 0xf];", "at[4] = digits[id & 0xf];"),
    row("another card is driven", "IDENTITY_82574 = 0x10d38086", "IDENTITY_82574 = 0x10c98086"),
)
