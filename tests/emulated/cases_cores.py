# SPDX-License-Identifier: Apache-2.0
"""BH-F2.cores. Sandboxes with several cores: `pair` has machine cores 1 and 2, of its own 0 and 1."""

from tests.emulated.case import ALL, ARMV7, GICV2, GICV3, X86, Case, Sandbox
from tests.emulated.expect import CoreExits, Expectation, Kicked, NeverSays, NoExits, Off, Parked, Says, SteadyExits

SETTLED = "ticks=400"  # forty milliseconds: the others are up
OTHERS = (Sandbox("bystander", 0), Sandbox("neighbour", 3))


def pair(arguments: str, beats: bool = True) -> tuple[Sandbox, ...]:
    return (Sandbox("pair", (1, 2), f"{SETTLED} {arguments}", beats=beats), *OTHERS)


def alive(count: int = 10) -> str:
    """What a pair says whose second core takes interrupts."""
    return f"ipis {count} of {count} to core 1$"


# ---- Interrupts between cores: one exit where they are sent, none where they arrive --------------------------------------

IPIS = 1000


IPI = (
    Case(
        "cores-ipi",
        "an IPI is one exit, at its sender",
        pair(f"ipi=1,{IPIS}"),
        (
            Says("pair", alive(IPIS)),
            SteadyExits("pair", "ipi", IPIS),
            CoreExits("pair", 1, "ipi", 0),
            NoExits("pair", ("ipi",)),
        ),
        ALL,
        quick=True,
    ),
)

# ---- On and off ----------------------------------------------------------------------------------------------------------

POWER = (
    Case(
        "cores-cycle",
        "a core that was switched off starts afresh",
        pair("cycle=1,10 ipi=1,10 cores"),
        (Says("pair", "cycles 10 of 10 of core 1$"), Says("pair", alive()), Says("pair", "core 1 on, ")),
        ALL,
        quick=True,
    ),
    Case(
        "cores-off",
        "a core that is off is woken by nothing but its start",
        pair("core=1,off ipi=1,1 ticks=100 cores"),
        (Says("pair", "core 1 off$"), Says("pair", "ipis 0 of 1 to core 1$"), Says("pair", "core 1 off, ")),
        ALL,
    ),
)

# ---- Kicks to a sandbox whose second core does this or that ---------------------------------------------------------------

MANY = 5000


def kicks(name: str, arguments: str, beats: bool = True, platforms: tuple[str, ...] = ALL, kicker: int = 0) -> Case:
    """The bystander has core 3, or, if the kicker has that, core 0."""
    sandboxes = (
        Sandbox("kicker", kicker, f"ticks=800 kick={{pair.index}},{MANY}", may_kick=("pair",), beats=False),
        Sandbox("pair", (1, 2), arguments, beats=beats),
        Sandbox("bystander", 3 - kicker),
    )
    expected = (Says("kicker", f"kicked {MANY} of {MANY}$"), Kicked("pair", MANY), NoExits("bystander"))
    return Case(f"cores-kick-{name}", "no kick to any core of a sandbox is lost", sandboxes, expected, platforms, limit_beats=100000)


KICKS = (
    kicks("second-idle", "", platforms=(*X86, GICV3, ARMV7)),
    # Here, of 5,000 kicks about a dozen delay a beat of the pair's by a whole period; the bystander's come in time. Not so where the second
    # core has no ticks. ARMv7, with the same GIC and monitor code, knows nothing of it.
    kicks("second-idle", "", beats=False, platforms=(GICV2,)),
    kicks("second-spinning", "core=1,spin"),
    kicks("second-asleep-masked", "core=1,sleep=masked"),
    kicks("second-off", "core=1,off"),
    kicks("second-storming", "core=1,storm", beats=False),  # QEMU's cores take turns, and who storms never gives up its own early
    # The same, twice: with GICv2 no timer ends their turns, and on core 3 the bystander would wait for its own. Rounds begin with core 0.
    kicks("both-spinning", "core=1,spin spin", beats=False, kicker=3),
    kicks("both-storming", "core=1,storm storm", beats=False),
)

# ---- The end of one is the end of all -------------------------------------------------------------------------------------


def end(name: str, last: str, outcome: Expectation, first: str = "", platforms: tuple[str, ...] = ALL) -> Case:
    """Core 1 ends the sandbox: core 0 does not live to say another word, and kicks are answered as before."""
    sandboxes = (
        Sandbox("kicker", 0, "ticks=2000 kick={pair.index},20", may_kick=("pair",), beats=False),
        Sandbox("pair", (1, 2), f"{SETTLED} core=1,{last} ticks=500 {first}", trusted_idle=True, beats=False),  # nothing else stops core 0
        Sandbox("bystander", 3),
    )
    expected = (outcome, Says("kicker", "kicked 20 of 20$"), NeverSays("pair", "ticks 500$"))
    return Case(f"cores-end-{name}", "all cores of a sandbox end together", sandboxes, expected, platforms)


ENDS = (
    end("by-fault", "read={bystander.ram:#x}", Parked("pair", "memory", "read", "{bystander.ram:#x}")),
    end("by-park", "park", Off("pair")),
)

# ---- x2APIC: SDM vol. 3A, 11.12.9. Machine core n has APIC ID n ------------------------------------------------------------

FIXED, NMI, INIT, STARTUP = 0x4055, 0x4400, 0x4500, 0x4600
TO_FOREIGN, TO_OWN = 3 << 32, 2 << 32


def core_event(name: str, guards: str, arguments: str, *expected: Expectation, beats: bool = True) -> Case:
    return Case(f"cores-{name}", guards, pair(arguments, beats), expected, X86)


def foreign(name: str, value: int) -> Case:
    """From the second core, to a core that is not the sandbox's."""
    icr = TO_FOREIGN | value
    return core_event(
        f"foreign-{name}", "the send filter knows the sandbox's own cores", f"core=1,icr={icr:#x}", parked_by(icr), beats=False
    )


def parked_by(icr: int) -> Expectation:
    return Parked("pair", "ipi", "write", value=f"{icr:#x}")


def broken_into(name: str, arguments: str) -> Case:
    """The kernel takes an NMI that it did not ask for as its end, and says so. The other core has begun what it was told by then."""
    guards = "an NMI reaches the own core it names, whatever that does"
    return core_event(
        f"nmi-{name}", guards, f"{arguments} ticks=10 icr={TO_OWN | NMI:#x}", Says("pair", "fault NMI"), Off("pair"), beats=False
    )


JMP_TO_ITSELF, OUT_0X80 = 0xFEEB, 0x80E6
NO_STALE = "what was requested of a core before it started is not delivered to it"

CORE_EVENTS = (
    foreign("fixed", FIXED),
    foreign("nmi", NMI),
    foreign("init", INIT),
    foreign("startup", STARTUP | 8),
    broken_into("off", "core=1,off"),
    broken_into("idle", ""),
    broken_into("spinning", "core=1,spin"),
    broken_into("asleep-masked", "core=1,sleep=masked"),
    broken_into("storming", "core=1,storm=wbinvd"),
    broken_into("in-a-strike", "core=1,storm=wbinvd-on"),  # whenever it strikes
    broken_into("refused-without-end", "core=1,endless=register"),
    broken_into("forbidden-without-end", "core=1,endless=forbidden"),
    core_event(
        "nmi-after-init",
        "an NMI finds no core that INIT has stopped",
        f"core=1,off icr={TO_OWN | INIT:#x} icr={TO_OWN | NMI:#x} ticks=10 core=1,on ipi=1,10",
        Says("pair", alive()),
    ),
    core_event(
        "startup-while-on",
        "STARTUP means nothing to a core that runs, and does not stir it",
        f"icr={TO_OWN | STARTUP | 0xF0:#x} ipi=1,10",
        Says("pair", alive()),
        CoreExits("pair", 1, "kick", 1),  # of its start
    ),
    core_event(
        "init",
        "INIT stops an own core",
        f"icr={TO_OWN | INIT:#x} ipi=1,1 ticks=10",
        Says("pair", "ipis 0 of 1 to core 1$"),
        Says("pair", "ticks 10$"),
    ),
    core_event(
        "init-of-refusals-without-end",
        "INIT and STARTUP reach an own core that does nothing but what is refused",
        f"write=0xf0000,{OUT_0X80:#x} core=1,endless=register ticks=10 icr={TO_OWN | INIT:#x} icr={TO_OWN | STARTUP | 0xF0:#x} ticks=10",
        Parked("pair", "port", "write", "0x80"),
        beats=False,
    ),
    core_event(
        "startup-nonsense",
        "a core that starts somewhere is its sandbox's affair",
        f"write=0xf0000,{JMP_TO_ITSELF:#x} icr={TO_OWN | INIT:#x} icr={TO_OWN | STARTUP | 0xF0:#x} ticks=20",
        Says("pair", "ticks 20$"),
    ),
    # Switched off, the kernel sleeps with its interrupts disabled; until INIT the request stays with it.
    core_event("stale-before-init", NO_STALE, f"core=1,off icr={TO_OWN | FIXED:#x} core=1,on ipi=1,10", Says("pair", alive())),
    core_event(
        "stale-after-init",
        NO_STALE,
        f"core=1,off icr={TO_OWN | INIT:#x} ticks=10 icr={TO_OWN | FIXED:#x} core=1,on ipi=1,10",
        Says("pair", alive()),
    ),
    # Vectors of exceptions: the monitor does not take them for its own.
    core_event(
        "stale-0x11",
        NO_STALE,
        f"core=1,off icr={TO_OWN | INIT:#x} ticks=10 icr={TO_OWN | 0x4011:#x} core=1,on ipi=1,10",
        Says("pair", alive()),
    ),
    core_event(
        "stale-0x1e",
        NO_STALE,
        f"core=1,off icr={TO_OWN | INIT:#x} ticks=10 icr={TO_OWN | 0x401E:#x} core=1,on ipi=1,10",
        Says("pair", alive()),
    ),
    Case(
        "cores-first-stopped",
        "a kick is answered for a sandbox that has stopped its own first core",
        (
            Sandbox("kicker", 0, "ticks=2000 kick={pair.index},20", may_kick=("pair",), beats=False),
            Sandbox("pair", (1, 2), f"{SETTLED} core=1,icr={1 << 32 | INIT:#x} ticks=500", beats=False),
            Sandbox("bystander", 3),
        ),
        (Says("kicker", "kicked 20 of 20$"), Kicked("pair", 20), NeverSays("pair", "ticks 500$")),
        X86,
    ),
)

CASES = (*IPI, *POWER, *KICKS, *ENDS, *CORE_EVENTS)
