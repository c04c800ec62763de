# SPDX-License-Identifier: Apache-2.0
"""BH-I4.kick. True concurrency: monitors, each on a thread of the host, kick, restart, start and stop cores at the same time.

What is judged is what must agree, never how long it took: every kick is answered and counted once by its victim, every core that is stopped starts
again, every interrupt between cores arrives, every restart ends in a life that beats, and no monitor has seen anything else.
"""

from typing import Any

from tests.emulated.case import ARM, QEMU, Case, Sandbox
from tests.emulated.expect import Expectation, Kicked, NeverSays, NoExits, Restarted, Says

USUAL = ("kick", "device", "register", "ipi", "call", "firmware", "identify", "idle")  # what these sandboxes give cause for
FEW, MANY = 100, 1500
NEVER_LOST = "no guest can mask, lose or forge a kick"


def stress(name: str, sandboxes: tuple[Sandbox, ...], expect: tuple[Expectation, ...], platforms: tuple[str, ...], long: bool) -> Case:
    usual = tuple(NoExits(one.name, USUAL) for one in sandboxes)
    silent = tuple(NeverSays(one.name, "no such command|: no$") for one in sandboxes)
    return Case(
        f"stress-{name}{'-long' if long else ''}",
        NEVER_LOST,
        sandboxes,
        (*expect, *usual, *silent),
        platforms,
        concurrent=True,
        long=long,
        limit_beats=10**9,
        limit_seconds=3000.0 if long else 300.0,
    )


def kicked(name: str, victim: Sandbox, *expect: Says | Restarted, platforms: tuple[str, ...] = QEMU) -> tuple[Case, Case]:
    """Two sandboxes kick a third, which has cores 1 and 2, at the same time."""

    def case(count: int, long: bool) -> Case:
        kickers = [Sandbox(who, core, f"gate kick={{pair.index}},{count}", may_kick=("pair",)) for who, core in (("left", 0), ("right", 3))]
        answered = tuple(Says(one.name, f"kicked {count} of {count}$") for one in kickers)
        sandboxes = (kickers[0], victim, kickers[1])
        return stress(name, sandboxes, (*answered, Kicked("pair", 2 * count), *expect), platforms, long)

    return case(FEW, False), case(MANY, True)


def pair(arguments: str, **more: Any) -> Sandbox:
    return Sandbox("pair", (1, 2), f"gate {arguments}", **more)


CYCLES, IPIS, LIVES = 50, 200, 10
COMES_AND_GOES = f"cycle=1,{CYCLES} ipi=1,{IPIS} cycle=1,{CYCLES}"
RESTART = 'on-fault = "restart"; max-restarts = <1>;'

THIRD = (
    *kicked("spinning", pair("core=1,spin spin", beats=False)),
    *kicked("storming", pair("core=1,storm storm", beats=False)),
    *kicked("asleep", pair("core=1,sleep=masked")),
    *kicked("trusted-idle", pair("core=1,sleep", trusted_idle=True), platforms=ARM),
    *kicked(
        "coming-and-going",
        pair(COMES_AND_GOES),
        Says("pair", f"cycles {CYCLES} of {CYCLES} of core 1$"),
        Says("pair", f"ipis {IPIS} of {IPIS} to"),
    ),
    *kicked(
        "restarting",
        pair(f"ipi=1,10 cycle=1,2 ipi=1,10 reboot={LIVES} life", ram_mib=4, health=RESTART),
        Restarted("pair", LIVES),
        Says("pair", f"life {LIVES}$"),
        Says("pair", "ipis 10 of 10 to core 1$"),
    ),
    *kicked(
        "restarting-beside-one-that-spins", pair(f"core=1,spin reboot={LIVES} life", ram_mib=4, health=RESTART), Restarted("pair", LIVES)
    ),
)


def each_other(name: str, others: str) -> tuple[Case, Case]:
    def case(count: int, long: bool) -> Case:
        left = Sandbox("left", (0, 1), f"gate {others} kick={{right.index}},{count}", may_kick=("right",))
        right = Sandbox("right", (2, 3), f"gate {others} kick={{left.index}},{count}", may_kick=("left",))
        answered = tuple(Says(one, f"kicked {count} of {count}$") for one in ("left", "right"))
        return stress(f"each-other-{name}", (left, right), (*answered, Kicked("left", count), Kicked("right", count)), QEMU, long)

    return case(FEW, False), case(MANY, True)


EACH_OTHER = (*each_other("spinning", "core=1,spin"), *each_other("storming", "core=1,storm"), *each_other("idle", ""))

CASES = (*THIRD, *EACH_OTHER)
