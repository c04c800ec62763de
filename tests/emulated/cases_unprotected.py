# SPDX-License-Identifier: Apache-2.0
"""BH-F2.unprotected, BH-P3.modular. What each protection holds off: the same attempt with it, which is contained, and without it, which succeeds.

These are positive controls: they show that the attempts of the other cases would be noticed, and that a protection is all
that stands between a sandbox and what it reaches here.
"""

from collections.abc import Iterator

from tests.emulated.case import A64, ALL, ARM, ARMV7, GIC2, GICV3, X86, Case, Sandbox
from tests.emulated.expect import Expectation, Parked, Refused, Returned, Says, SteadyExits

STATS_MAGIC = 0x54534842  # BH_STATS_MAGIC
UNDEFINED = "(undefined instruction|trapped system register)"
ISENABLER1, LINE_33 = 0x104, 0x2  # of the distributor: the first UART's
FOREIGN_ICR = 2 << 32 | 1 << 14 | 0x55
FOREIGN_SGI, FOREIGN_SGIR = 5 << 24 | 1 << 2, 1 << 2 << 16 | 5


def three_sandboxes(command: str, unprotected: tuple[str, ...], harmed: bool) -> tuple[Sandbox, ...]:
    """As `attacked`, but nobody says that the victim comes through."""
    return (
        Sandbox("bystander", 0),
        Sandbox("attacker", 1, f"ticks=400 {command}", unprotected=unprotected, beats=False),
        Sandbox("victim", 2, beats=not harmed),
    )


def both(
    what: str,
    command: str,
    held: Expectation,
    escaped: Expectation,
    platforms: tuple[str, ...],
    also: tuple[str, ...] = (),
    name: str = "",
    harmed: bool = False,
    quick: bool = True,
) -> Iterator[Case]:
    """With the protection, and without it."""
    guards = f"`{what}` protection, and nothing else, holds this off"
    yield Case(f"protected-{name or what}", guards, three_sandboxes(command, (), False), (held,), platforms)
    yield Case(f"unprotected-{name or what}", guards, three_sandboxes(command, (what, *also), harmed), (escaped,), platforms, quick=quick)


def memory(name: str, place: str, platforms: tuple[str, ...], value: int | None = None, quick: bool = True) -> Iterator[Case]:
    command = f"read={place}"
    held, escaped = Parked("attacker", "memory", "read", place), Returned("attacker", command, value)
    return both("memory", command, held, escaped, platforms, name=name, quick=quick)


def registers(commands: tuple[str, ...], by: str, platforms: tuple[str, ...]) -> Iterator[Case]:
    for command in commands:
        held, escaped = Refused("attacker", command, by), Returned("attacker", command)
        yield from both("msr", command, held, escaped, platforms, name=f"msr-{command}", quick=command == commands[0])


def ipi(command: str, vector: int, platforms: tuple[str, ...]) -> Iterator[Case]:
    held, escaped = Parked("attacker", "ipi", "write"), Says("victim", rf": stray interrupt (0x)?{vector}\b")
    return both("ipi", command, held, escaped, platforms, harmed=True)


MEMORY = (
    *memory("statistics-of-another", "{victim.pool:#x}", ALL, STATS_MAGIC),
    *memory("monitor-of-another", "{victim.arena:#x}", ALL, quick=False),
    *memory("own-monitor", "{attacker.arena:#x}", ALL, quick=False),
    *memory("foreign-ram", "{victim.ram:#x}", ALL, quick=False),
    Case(
        "unprotected-alias",
        "what own RAM hides is seen through the alias, and needs the same protection",
        three_sandboxes("read={victim.alias:#x}", ("memory",), False),
        (Returned("attacker", "read={victim.alias:#x}", STATS_MAGIC),),
        quick=True,
    ),
    *memory("device", "0x09000018", ARM, quick=False),
)
IO = both("io", "in=0x3fd", Parked("attacker", "port", "read", "0x3fd"), Returned("attacker", "in=0x3fd"), X86)
MSR = (
    *registers(("rdmsr=0x200", "rdmsr=0xc0000104", "wrmsr=0x3b,0"), "#GP", X86[:1]),
    *registers(("rdmsr=0x200",), "#GP", X86[1:]),
    *registers(("mrs=actlr", "mrs=mdrar"), UNDEFINED, A64),
    *registers(("mrc=dbgdscr", "mrc=l2ctlr"), UNDEFINED, (ARMV7,)),
)
IPI = (
    *ipi(f"icr={FOREIGN_ICR:#x}", 55, X86),
    *ipi(f"sgi={FOREIGN_SGI:#x}", 5, (GICV3,)),
    *ipi(f"sgir={FOREIGN_SGIR:#x}", 5, GIC2),
)
ENABLE_LINE = f"gicd-write={ISENABLER1:#x},{LINE_33:#x}"
MASKED, FOREIGN_ENTRY, UNUSED_VECTOR = 0x10000, 0x18, 0x10055  # pin 4, which nobody has; it stays masked
IOAPIC = f"ioapic=0xfec00000,{UNUSED_VECTOR << 32 | FOREIGN_ENTRY:#x}"  # reads back
IRQ = (
    *both("irq", IOAPIC, Returned("attacker", IOAPIC, MASKED), Returned("attacker", IOAPIC, UNUSED_VECTOR), X86),
    *both("irq", ENABLE_LINE, Returned("attacker", ENABLE_LINE, 0), Returned("attacker", ENABLE_LINE, LINE_33), ARM, also=("ipi",)),
)
# An exception that would go on for ever is as hard on the emulator as on the core, so the control is one that does not.
TAKEN = Refused("attacker", "watch", "#DB")
ABORT = tuple(
    Case(case.name, case.guards, case.sandboxes, (*case.expect, TAKEN), case.platforms, quick=case.quick)
    for case in both("abort", "watch", SteadyExits("attacker", "long", 1), SteadyExits("attacker", "long", 0), X86)
)

# Each switches off what it says, and no more.
ALONE = "a protection that is on does not depend on the others"
APART = (
    Case("memory-opens-no-ioapic", ALONE, three_sandboxes(IOAPIC, ("memory",), False), (Returned("attacker", IOAPIC, MASKED),), X86),
    Case(
        "memory-opens-no-distributor", ALONE, three_sandboxes(ENABLE_LINE, ("memory",), False), (Returned("attacker", ENABLE_LINE, 0),), ARM
    ),
    Case(
        "registers-open-no-ipi",
        ALONE,
        three_sandboxes(f"icr={FOREIGN_ICR:#x}", ("memory", "io", "msr", "irq", "abort"), False),
        (Parked("attacker", "ipi", "write"),),
        X86,
    ),
    Case(
        "unprotected-beyond-the-last-port",
        "an access that runs over the last port exits, whatever is open: what lies after the map of ports is not theirs",
        three_sandboxes("in32=0xffff", ("io", "msr"), False),
        (Parked("attacker", "port", "read", "0xffff"),),
        X86,
    ),
)

CASES = (*MEMORY, *IO, *MSR, *IPI, *IRQ, *ABORT, *APART)
