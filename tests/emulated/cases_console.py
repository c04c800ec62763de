# SPDX-License-Identifier: Apache-2.0
"""BH-I1.device. Start-up's line on the boot console, whose owner finds the UART as start-up found it."""

from tests.emulated.case import ARM, SVM, VTX, Case, Sandbox
from tests.emulated.expect import Says

LINE_CONTROL = {SVM: 0, VTX: 0}  # as firmware leaves it; start-up sends in 3, eight bits. TI PC16550D data sheet, 8.0 "Registers"


def left(name: str, found: int, platforms: tuple[str, ...]) -> Case:
    owner = Sandbox("owner", 1, "uart-found=1", uart="uart0")
    guards = "what start-up says leaves no trace in the UART's registers"
    return Case(f"console-{name}", guards, (Sandbox("bystander", 0), owner), (Says("owner", f"uart found {found:#x}$"),), platforms)


CASES = (
    *(left("line-control", found, (platform,)) for platform, found in LINE_CONTROL.items()),
    left("raw-interrupts", 0, ARM),  # an empty transmitter raises its own. ARM DDI 0183, 3.3.11 "Raw interrupt status register"
)
