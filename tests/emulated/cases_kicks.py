# SPDX-License-Identifier: Apache-2.0
"""BH-I4.kick. Kicks under stress, exit storms, and the absence of exits: what a monitor does when it should, and when it should not."""

from tests.emulated.case import ALL, ARM, GIC2, VTX, X86, Case, Sandbox
from tests.emulated.expect import ExitsAtLeast, Expectation, Kicked, NoExits, Parked, Says

# ---- Kicks ------------------------------------------------------------------------------------------------------------

MANY, FEW = 5000, 200
NEVER_LOST = "no guest can mask, lose or forge a kick"


def kicks(
    name: str,
    victim: str,
    platforms: tuple[str, ...] = ALL,
    count: int = MANY,
    also: tuple[Expectation, ...] = (),
    beats: bool = False,
    quick: bool = False,
) -> Case:
    """Every kick is acknowledged, whatever the victim does, and the bystander notices nothing."""
    sandboxes = (
        Sandbox("kicker", 0, f"ticks=400 kick={{victim.index}},{count}", may_kick=("victim",), beats=False),
        Sandbox("victim", 1, victim, beats=beats),
        Sandbox("bystander", 2),
    )
    expected: tuple[Expectation, ...] = (Says("kicker", f"kicked {count} of {count}$"), Kicked("victim", count), *also)
    return Case(f"kick-{name}", NEVER_LOST, sandboxes, expected, platforms, limit_beats=100000, quick=quick)


def both_counts(name: str, victim: str) -> tuple[Case, Case]:
    return kicks(name, victim), kicks(f"{name}-few", victim, count=FEW, quick=True)


KICKS = (
    *both_counts("spinning", "spin"),
    *both_counts("asleep", "sleep"),
    *both_counts("asleep-masked", "sleep=masked"),
    *both_counts("storming", "storm"),
    kicks("storming-identify", "storm=cpuid", X86, FEW),
    kicks("storming-register", "storm=register", count=FEW),
    kicks("behind-a-closed-interface", "sleep-masked", GIC2),
    kicks("endless-debug-exceptions", "int1loop", (VTX,), FEW),  # QEMU aborts at these, without a monitor, too
    kicks("endless-refused-registers", "endless=register", X86, FEW),
    kicks("endless-refused-ipis", "endless=ipi", X86, FEW),
    kicks("endless-forbidden-instructions", "endless=forbidden", X86, FEW),
    kicks("beating", "", beats=True),
    kicks("parked", "read={kicker.ram:#x}", also=(Parked("victim", "memory"),)),
    Case(
        "kick-each-other",
        "monitors that wait for each other answer meanwhile",
        (
            Sandbox("left", 0, "ticks=400 kick={right.index},2000", may_kick=("right",), beats=False),
            Sandbox("right", 1, "ticks=400 kick={left.index},2000", may_kick=("left",), beats=False),
            Sandbox("bystander", 2),
        ),
        (Says("left", "kicked 2000 of 2000$"), Says("right", "kicked 2000 of 2000$"), Kicked("left", 2000), Kicked("right", 2000)),
    ),
    Case(
        "kick-at-once",
        "a core can be kicked as soon as it runs a sandbox, and the boot core too",
        (
            Sandbox("victim", 0),
            Sandbox("kicker", 1, f"kick={{victim.index}},{FEW}", may_kick=("victim",), beats=False),
            Sandbox("bystander", 2),
        ),
        (Says("kicker", f"kicked {FEW} of {FEW}$"), Kicked("victim", FEW)),
        quick=True,
    ),
    Case(
        "kick-denied",
        "a kick needs may-kick",
        (Sandbox("kicker", 0, "kick={victim.index},5 kick=7,5 kick=99,5 kick=0,5"), Sandbox("victim", 1), Sandbox("bystander", 2)),
        (Says("kicker", "kicked 0 of 5, denied"), Kicked("victim", 0), Kicked("kicker", 0)),
        quick=True,
    ),
)

# ---- Holes that look like a poisoned entry -------------------------------------------------------------------------------

REPEATS = 2000


def refused_while_kicked(name: str, place: int, shown: str) -> Case:
    """The attacker reaches for it between the first and the last of many kicks."""
    sandboxes = (
        Sandbox("kicker", 0, f"ticks=390 kick={{attacker.index}},{REPEATS}", may_kick=("attacker",), beats=False),
        Sandbox("attacker", 1, f"ticks=400 read={place:#x}", beats=False),
        Sandbox("bystander", 2),
    )
    expected = (Parked("attacker", "memory", "read", shown), Says("kicker", f"kicked {REPEATS} of {REPEATS}$"), Kicked("attacker", REPEATS))
    return Case(f"kick-reaching-{name}", "BH-I8.bounded: what no kick explains is not tried again for ever", sandboxes, expected, ARM)


HOLES = (
    refused_while_kicked("into-the-root", 0x80000000, "0x80000000"),
    refused_while_kicked("below-the-root", 0x50000000, "0x50000000"),
    # QEMU tells ARMv7 monitors 32 bits of the address: of RAM, which is there, and they try again until their bound.
    refused_while_kicked("above-4-gib", 0x140000000, ""),
)

# The address of such a write is what the victim's own tables make of it, through a stage 2 that a kick may have poisoned since.
ASKED = (
    Case(
        "kick-during-a-write-to-pci",
        "an access that a sandbox may make ends in no fault, whenever a kick comes",
        (
            Sandbox("kicker", 0, "ticks=400 kick={victim.index},1000", may_kick=("victim",), beats=False),
            Sandbox("victim", 1, "ticks=100 pelt=0x3f01803c", access=("pciedu0",), beats=False),
            Sandbox("bystander", 2),
        ),
        (Says("kicker", "kicked 1000 of 1000$"), Kicked("victim", 1000)),
        ARM,
        needs=("pciedu0",),
    ),
)

# ---- Exit storms -------------------------------------------------------------------------------------------------------


def storm(kind: str, reason: str, platforms: tuple[str, ...] = ALL, quick: bool = False) -> Case:
    sandboxes = (Sandbox("bystander", 0), Sandbox("attacker", 1, f"ticks=400 storm={kind}", beats=False), Sandbox("victim", 2))
    guards = "a monitor serves its sandbox and nobody else"
    return Case(f"storm-{kind}", guards, sandboxes, (ExitsAtLeast("attacker", reason, 20000),), platforms, quick=quick)


STORMS = (
    storm("call", "call", quick=True),
    storm("cpuid", "identify", X86),
    storm("register", "register"),
    storm("device", "device", ARM),
)


def trips(kind: str, reason: str, platforms: tuple[str, ...] = ALL) -> Case:
    """What `bench exits` counts."""
    expected = (Says("measured", rf"trips {kind} min \d+ median \d+ max \d+ ticks$"), ExitsAtLeast("measured", reason, 1000))
    sandboxes = (Sandbox("bystander", 0), Sandbox("measured", 1, f"trips={kind}", beats=False))
    return Case(f"trips-{kind}", "an exit comes back, as often as it is made", sandboxes, expected, platforms)


TRIPS = (
    trips("call", "call"),
    trips("register", "register"),
    trips("refused", "register"),
    trips("ipi", "ipi"),
    trips("device-read", "device"),
    trips("device-write", "device"),
    trips("identify", "identify", X86),
)

# ---- No exits ----------------------------------------------------------------------------------------------------------

WORK = "ticks=10000 uart-irqs=10000"
DONE = (Says("worker", "ticks 10000$"), Says("worker", "uart-irqs 10000$"))
EXITLESS = "interrupts reach the sandbox without an exit"


def exitless(name: str, worker: Sandbox, *idle: Expectation, kicked: bool = False, quick: bool = False) -> Case:
    """`kicked`: the neighbour may kick the worker, but does not; elsewhere than on ARM that changes nothing."""
    neighbour = Sandbox("neighbour", 2, may_kick=("worker",) if kicked else ())
    expected: tuple[Expectation, ...] = (*DONE, NoExits("worker", ("idle",) if idle else ()), NoExits("neighbour"), *idle)
    return Case(name, EXITLESS, (worker, neighbour), expected, ARM if kicked else ALL, quick=quick)


STEADY = (
    exitless("no-exits", Sandbox("worker", 1, WORK, uart="uart1"), quick=True),
    exitless("no-exits-but-idle", Sandbox("worker", 1, WORK, uart="uart1"), ExitsAtLeast("worker", "idle", 1000), kicked=True),
    exitless("no-exits-trusted-idle", Sandbox("worker", 1, WORK, uart="uart1", trusted_idle=True), kicked=True, quick=True),
    exitless("no-exits-on-the-boot-core", Sandbox("worker", 0, WORK, uart="uart0")),
)

# ---- Anybody's program --------------------------------------------------------------------------------------------------

TINY = (
    Case(
        "tiny-guest",
        "the entry contract is all a program needs",
        (Sandbox("tiny", 1, image="tiny.elf", beats=False), Sandbox("neighbour", 2)),
        (Says("tiny", "tiny: tiny ready"),),
        quick=True,
    ),
)

CASES = (*KICKS, *HOLES, *ASKED, *STORMS, *TRIPS, *STEADY, *TINY)
