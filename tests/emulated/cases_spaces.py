# SPDX-License-Identifier: Apache-2.0
"""BH-F4.memory. Address spaces of the sandbox kernel on two cores, whose processor says what each translates by."""

from tests.emulated.case import Case, Sandbox
from tests.emulated.expect import Says

MARK = 0x6B65726E  # pair.c


def pair(arguments: str) -> tuple[Sandbox, ...]:
    return (Sandbox("bystander", 0), Sandbox("victim", (1, 2), f"ticks=400 {arguments}"))


CASES = (
    Case(
        "started-away",
        "a core is started in the kernel's own space, whichever the starter translates by",
        pair("start-away=1"),
        (Says("victim", f"core 1 reads {MARK:#x}$"), Says("victim", "away space destroyed 1$")),
        quick=True,
    ),
    Case(
        "unmapped-beside",
        "the kernel's space loses a page while no other core is on, and not before",
        pair("unmap-beside=1"),
        (Says("victim", "unmapped beside a core 0, beside none 1, reads 0x0$"), Says("victim", f"core 1 reads {MARK:#x}$")),
        quick=True,
    ),
    Case(
        "attempts-at-once",
        "an attempt is abandoned by its own core's fault, on its own stack",
        pair("attempts=1"),
        (Says("victim", "attempts ended by their own faults 1, 1$"),),
        quick=True,
    ),
)
