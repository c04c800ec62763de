# SPDX-License-Identifier: Apache-2.0
"""BH-F2.cores. Cores that a sandbox starts and stops through its monitor: PSCI (Arm DEN 0022). Machine core n has MPIDR n."""

from tests.emulated.case import ALL, ARM, Case, Sandbox
from tests.emulated.expect import Expectation, Kicked, NoExits, Off, Parked, Returned, Says

PAIR = (1, 2)

# ---- Starting what is not one's own: 5.4 "CPU_ON", by MPIDR and entry address ---------------------------------------------

STARTS = "a sandbox starts its own cores, when they are off, and nothing else"
SOMEWHERE, NOWHERE = 0x40080000, 0x30000000
INVALID_PARAMETERS, ALREADY_ON = 2**64 - 2, 2**64 - 4


def starting(name: str, core: int, answer: int, quick: bool = False) -> Case:
    command = f"cpu-on={core:#x},{SOMEWHERE:#x}"
    sandboxes = (Sandbox("bystander", 0), Sandbox("attacker", PAIR, f"ticks=400 {command}"), Sandbox("victim", 3))
    return Case(f"psci-start-{name}", STARTS, sandboxes, (Returned("attacker", command, answer),), ARM, quick=quick)


STARTING = (
    starting("foreign-core", 3, INVALID_PARAMETERS, quick=True),
    starting("absent-core", 0x100, INVALID_PARAMETERS),
    starting("running-core", 2, ALREADY_ON),
    starting("itself", 1, ALREADY_ON),
)

# ---- Ends ----------------------------------------------------------------------------------------------------------------

CPU_OFF, SYSTEM_OFF = 0x84000002, 0x84000008


def ends(name: str, guards: str, commands: str, outcome: Expectation) -> Case:
    """The pair ends as a whole; its monitor still answers, and nobody else notices."""
    sandboxes = (
        Sandbox("kicker", 0, "ticks=2000 kick={pair.index},200", may_kick=("pair",), beats=False),
        Sandbox("pair", PAIR, f"ticks=400 {commands}", beats=False),
        Sandbox("bystander", 3),
    )
    return Case(f"psci-{name}", guards, sandboxes, (outcome, Says("kicker", "kicked 200 of 200$"), Kicked("pair", 200)), ARM)


REACH = "read={bystander.ram:#x}"
REACHED = Parked("pair", "memory", "read", "{bystander.ram:#x}")
TOGETHER = "all cores of a sandbox end together"
ENDS = (
    ends(
        "start-nowhere",
        "a core that starts somewhere is its sandbox's affair",
        f"core=1,off cpu-on=2,{NOWHERE:#x}",
        Parked("pair", "memory", "execute", f"{NOWHERE:#x}"),
    ),
    ends("last-core-goes", "a sandbox without cores is off", f"core=1,off hvc={CPU_OFF:#x}", Off("pair")),
    ends("switched-off-by-the-second", TOGETHER, f"core=1,hvc={SYSTEM_OFF:#x}", Off("pair")),
    ends("fault-beside-one-that-spins", TOGETHER, f"core=1,spin {REACH}", REACHED),
    ends("fault-beside-one-that-sleeps", TOGETHER, f"core=1,sleep=masked {REACH}", REACHED),
    ends("fault-beside-one-that-is-off", TOGETHER, f"core=1,off {REACH}", REACHED),
    ends("fault-beside-one-that-storms", TOGETHER, f"core=1,storm {REACH}", REACHED),
)

# ---- Kicks while cores come and go, and monitors that kick each other: on every machine ------------------------------------

MANY, FEW = 2000, 200


def kicks(
    name: str,
    arguments: str,
    platforms: tuple[str, ...] = ALL,
    count: int = MANY,
    cores: tuple[int, ...] = PAIR,
    kicker: int = 0,
    more: tuple[Expectation, ...] = (),
) -> Case:
    """The bystander has core 3, or, if the kicker has that, core 0."""
    sandboxes = (
        Sandbox("kicker", kicker, f"ticks=800 kick={{pair.index}},{count}", may_kick=("pair",), beats=False),
        Sandbox("pair", cores, arguments, beats=False),
        Sandbox("bystander", 3 - kicker),
    )
    expected: tuple[Expectation, ...] = (Says("kicker", f"kicked {count} of {count}$"), Kicked("pair", count), NoExits("bystander"), *more)
    return Case(
        f"cores-kick-{name}",
        "no kick to any core of a sandbox is lost",
        sandboxes,
        expected,
        platforms,
        limit_beats=100000,
        quick=count == FEW,
    )


FIRST_OFF = f"ticks=100 core=1,spin hvc={CPU_OFF:#x}"
KICKS = (
    # QEMU's cores take turns in their order: here the sibling meets every kick before the core it is for. Two that spin never give up
    # their turns early, but every round begins with core 0: there the bystander is not late.
    kicks("sibling-first", "core=1,spin spin", count=FEW, cores=(2, 1), kicker=3),
    kicks("second-coming-and-going", "cycle=1,100000"),
    kicks("second-interrupted", "ipi=1,100000000"),
    # Likewise: who spins keeps its turn for up to 25 ms where the timers of all who wait for theirs have gone off already.
    kicks("first-off", FIRST_OFF, ARM, kicker=3, more=(Says("pair", "core 1 spin$"),)),
    Case(
        "cores-kick-each-other",
        "monitors that wait for each other answer meanwhile, and heal nothing that is wanted",
        (
            Sandbox("left", (0, 1), f"core=1,spin ticks=400 kick={{right.index}},{MANY}", may_kick=("right",), beats=False),
            Sandbox("right", (2, 3), f"core=1,spin ticks=400 kick={{left.index}},{MANY}", may_kick=("left",), beats=False),
        ),
        (
            Says("left", f"kicked {MANY} of {MANY}$"),
            Says("right", f"kicked {MANY} of {MANY}$"),
            Kicked("left", MANY),
            Kicked("right", MANY),
        ),
    ),
)

CASES = (*STARTING, *ENDS, *KICKS)
