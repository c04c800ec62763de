# SPDX-License-Identifier: Apache-2.0
"""Mistakes about PCI functions: what is broken where, which case notices, and what its report then shows."""

from dataclasses import replace

from tests.emulated.case import GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation

FILTER = "hal/pci/filter.c"
PCI = (
    MachineMutation(
        "functions may master the bus",
        FILTER,
        "(value & (PCI_COMMAND_INTX_DISABLE |",
        "(value & (4 | PCI_COMMAND_INTX_DISABLE |",
        "pci-bus-master",
        GICV3,
        "gave 'returned 0x100007'",
    ),
    MachineMutation(
        "a function decodes wherever it is",
        FILTER,
        "(is_placed(function) ? function->may : 0)",
        "(is_placed(function) || true ? function->may : 0)",
        "pci-decode-displaced",
        GICV3,
        "gave 'returned 0x100003'",
    ),
    MachineMutation(
        "base addresses move",
        FILTER,
        "(value != UINT32_MAX && value != function->bar[bar])",
        "false",
        "pci-move",
        GICV3,
        "gave 'returned 0x2f000000'",
    ),
    MachineMutation(
        "base addresses change while the function decodes",
        FILTER,
        "decodes(function) || (value",
        "(decodes(function) && !function) || (value",
        "pci-size-while-decoding",
        GICV3,
        "gave 'returned 0xfff00000'",
    ),
    MachineMutation(
        "capabilities are written",
        FILTER,
        ": offset != PCI_INTERRUPT_LINE && !is_message(function, offset))",
        ": offset < PCI_INTERRUPT_LINE && is_message(function, 0))",
        "pci-message-address",
        GICV3,
        "gave 'returned 0xfee00000'",
    ),
    MachineMutation(
        "foreign functions are shown",
        "hal/pci/functions_boot.c",
        "bool real = open || owns(view, id);",
        "bool real = open || owns(view, id) || view->count;",
        "pci-foreign-function",
        GICV3,
        "gave 'returned 0x21b36'",
    ),
    MachineMutation(
        "configuration registers are written without the monitor",
        "hal/pci/functions_boot.c",
        "HAL_READ | (open ? HAL_WRITE : 0)",
        "HAL_READ | HAL_WRITE",
        "pci-bus-master",
        GICV3,
        "gave 'returned 0x10",
    ),
    MachineMutation(
        "ports lead to foreign functions",
        FILTER,
        "*value = UINT32_MAX; if (function) {",
        "*value = UINT32_MAX; if (!function) *value = pci_config_read(place); if (function) {",
        "pci-host-bridge",
        SVM,
        "attacker never finished",  # its own monitor maps no foreign page either
    ),
    MachineMutation(
        "a lock keeps nobody out",
        "hal/lock.c",
        "&& holder != self) {",
        "&& holder == self) {",
        "pci-selected-by-two",
        VTX,
        "'config=.* gave 'returned",
    ),
)

# The same mistakes behind Bochs' ports: which case notices there, and what it then reads.
BEHIND_PORTS = {
    "functions may master the bus": ("pci-ports-bus-master", "0x800005"),
    "a function decodes wherever it is": ("pci-ports-decode-displaced", "0x800001"),
    "base addresses move": ("pci-ports-move", "0xd001"),
    "base addresses change while the function decodes": ("pci-ports-size-while-decoding", "0xfffffff1"),
    "ports lead to foreign functions": ("pci-ports-foreign-function", "0x11111234"),
}
PCI_PORTS = tuple(
    replace(row, platform=VTX, caught_by=BEHIND_PORTS[row.what][0], shows=f"gave 'returned {BEHIND_PORTS[row.what][1]}'")
    for row in PCI
    if row.what in BEHIND_PORTS
)
