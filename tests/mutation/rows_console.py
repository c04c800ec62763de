# SPDX-License-Identifier: Apache-2.0
"""Start-up's line leaves something in the UART. That it waits until the line is sent shows on no emulator: theirs send at once."""

from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation

PC, ARM = "arch/x86_64/machine_boot.c", "arch/arm/console_boot.c"

CONSOLE = (
    *(
        MachineMutation(
            "characters stay eight bits long",
            PC,
            "x86_out8(board.console.address + UART_LCR, found_lcr);",
            "",
            "console-line-control",
            platform,
            "owner never said 'uart found",
        )
        for platform in (SVM, VTX)
    ),
    *(
        MachineMutation(
            "the transmitter's interrupt stays pending",
            ARM,
            "arch_mmio_write32(console->address + UARTICR, UARTICR_TXIC);",
            "",
            "console-raw-interrupts",
            platform,
            "owner never said 'uart found",
        )
        for platform in (GICV3, GICV2, ARMV7)
    ),
)
