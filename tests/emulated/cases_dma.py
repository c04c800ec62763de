# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma. What a sandbox's network card reaches by itself. It sends frames to itself, from where it is told to where it is told.

The attacker owns nic0. What it has written is looked for in all of the machine's memory, from outside; what it reads comes back to the attacker.
"""

from tests.emulated.case import ARM, Case, Sandbox
from tests.emulated.expect import Contained, Restarted, Returned

CARD = "nic0"
WORD, FIRST = 0x0D60475A, 0x91F4CB2E0D60475A  # of a frame
SMMU, GICD, UART = 0x09050000, 0x08000000, 0x09000000
BAR0, ECAM = 0x2E200000, 0x3F008000
ALL = ARM
WINDOW = 0x0C000000  # where a sandbox sees its own statistics, read only: `guest-window` of its board tree
OWN = "dma-write={attacker.gpa_last}"  # so that there is something to be found
REACHED = "a card reaches its sandbox's memory where the sandbox has it"
BLOCKED = "a card reaches nothing but its sandbox's memory"


def attack(arguments: str) -> tuple[Sandbox, ...]:
    return (Sandbox("bystander", 0), Sandbox("attacker", 1, f"ticks=99 {arguments}", access=(CARD,), beats=False), Sandbox("victim", 2))


def writes(name: str, target: str, quick: bool = False, platforms: tuple[str, ...] = ALL) -> Case:
    """The card says that it did, as it is told nothing of what became of it."""
    command = f"dma-write={target}"
    expected = (Returned("attacker", OWN, 1), Returned("attacker", command, 1), Contained("attacker"))
    return Case(f"dma-write-{name}", BLOCKED, attack(f"{OWN} {command}"), expected, platforms, quick=quick, needs=(CARD,))


def reads(name: str, target: str, quick: bool = False, platforms: tuple[str, ...] = ALL) -> Case:
    """What is not read is sent as zeros."""
    command = f"dma-read={target}"
    return Case(f"dma-read-{name}", BLOCKED, attack(command), (Returned("attacker", command, 0),), platforms, quick=quick, needs=(CARD,))


CASES = (
    Case(
        "dma-own",
        REACHED,
        attack(f"{OWN} read={{attacker.gpa_last}} dma-read={{attacker.gpa_last}}"),
        (
            Returned("attacker", "read={attacker.gpa_last}", WORD),
            Returned("attacker", "dma-read={attacker.gpa_last}", FIRST),
            Contained("attacker"),
        ),
        ALL,
        quick=True,
        needs=(CARD,),
    ),
    writes("foreign-ram", "{victim.ram_last}", quick=True),
    writes("own-ram-by-its-machine-address", "{attacker.ram_last}"),
    writes("own-ram-end", "{attacker.gpa_end}"),
    writes("foreign-pool", "{victim.arena}"),
    writes("own-pool", "{attacker.arena}"),
    writes("own-statistics", f"{WINDOW:#x}", platforms=ARM),
    writes("shared-page", "{shared}"),
    writes("monitor", "{image}"),
    writes("iommu-tables", "{iommu}", quick=True),
    writes("iommu-registers", f"{SMMU:#x}", platforms=ARM),
    writes("distributor", f"{GICD:#x}", platforms=ARM),
    writes("own-registers", f"{BAR0:#x}", platforms=ARM),
    writes("own-configuration", f"{ECAM:#x}", platforms=ARM),
    reads("foreign-ram", "{victim.entry}"),
    reads("own-pool", "{attacker.pool}"),
    reads("monitor", "{image}", quick=True),
    reads("iommu-tables", "{iommu}"),
    reads("iommu-registers", f"{SMMU:#x}", platforms=ARM),
    reads("own-registers", f"{BAR0:#x}", platforms=ARM),
    Case(
        "dma-after-a-restart",
        REACHED,
        (
            Sandbox("bystander", 0),
            Sandbox(
                "mortal",
                1,
                "ticks=99 first=dma-write={mortal.ram_last} crash=1 dma-write={mortal.gpa_last}",
                access=(CARD,),
                health='on-fault = "restart"; max-restarts = <1>;',
            ),
        ),
        (Restarted("mortal", 1), Returned("mortal", "dma-write={mortal.gpa_last}", 1), Contained("mortal")),
        ALL,
        needs=(CARD,),
    ),
)
