# SPDX-License-Identifier: Apache-2.0
"""BH-I1.device, BH-I4.kick. A machine that does not start clean: garbage in all RAM (garbage.py), devices as firmware leaves them (firmware.py).

Every word that monitors share is used: kick mailboxes both ways, the locks of the I/O APIC and of PCI's ports.
"""

from collections.abc import Iterator

from tests.emulated.case import Case, Sandbox
from tests.emulated.cases_pci import DISPLAY, EDU, IDENTITY, MACHINES, PORTS, Machine
from tests.emulated.expect import Expectation, Kicked, LikeNew, Says
from tests.emulated.garbage import Garbage

GUARDS = "start-up relies on nothing that a loader, firmware or an earlier system left"
COUNT, LINES = 500, 100
GARBAGE: tuple[Garbage, ...] = ("ones", "random")


def dirty(garbage: Garbage, machine: Machine, access: str, function: int, identity: int) -> Case:
    sandboxes = (
        Sandbox("left", 0, f"ticks=400 kick={{right.index}},{COUNT}", may_kick=("right",), beats=False),
        Sandbox("right", 1, f"ticks=400 kick={{left.index}},{COUNT}", may_kick=("left",), beats=False),
        Sandbox("worker", 2, f"ticks=400 uart-irqs={LINES}", uart="uart1"),
        Sandbox("owner", 3, f"ticks=400 {machine.peek(function, IDENTITY)}", access=(access,)),
    )
    expected: tuple[Expectation, ...] = (
        *(Says(who, f"kicked {COUNT} of {COUNT}$") for who in ("left", "right")),
        *(Kicked(who, COUNT) for who in ("left", "right")),
        Says("worker", f"uart-irqs {LINES}$"),
        machine.reads("owner", function, IDENTITY, identity),
        *(LikeNew(one.name) for one in sandboxes),
    )
    return Case(
        f"dirty-{garbage}", GUARDS, sandboxes, expected, machine.platforms, quick=garbage == "random", needs=(access,), garbage=garbage
    )


def cases() -> Iterator[Case]:
    for garbage in GARBAGE:
        for machine in MACHINES:
            yield dirty(garbage, machine, "pciedu0", EDU, 0x11E81234)
        yield dirty(garbage, PORTS, "pcivga0", DISPLAY, 0x11111234)


CASES = tuple(cases())
