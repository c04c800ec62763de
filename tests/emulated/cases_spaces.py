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
        "unmapped-beside-who-left",
        "a core that leaves the kernel's space has forgotten what is unmapped there from then on",
        (Sandbox("bystander", 0), Sandbox("victim", (1, 2, 3), "ticks=400 core=2,off unmap-left=1 core=2,on core=1,off unmap-left=2")),
        tuple(Says("victim", f"unmapped beside core {core}, which left, 1, read {MARK:#x}, then 0x0$") for core in (1, 2)),
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
