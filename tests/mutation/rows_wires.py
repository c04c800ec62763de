# SPDX-License-Identifier: Apache-2.0
"""Mistakes that let a core's own wires reach others (docs/sideband.md), or its leftovers its monitor."""

from tests.emulated.case import SVM
from tests.mutation.machine_mutation import MachineMutation

WIRES = (
    MachineMutation(
        "the line of FERR# is a device's",
        "arch/x86_64/board_x86.h",
        "#define PC_PRIVATE_LINES { 13, 1 }",
        "#define PC_PRIVATE_LINES { 12, 1 }",
        "lent-line",
        SVM,
        "victim said .*stray interrupt",
    ),
)
