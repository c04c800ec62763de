# SPDX-License-Identifier: Apache-2.0
"""BH-F2.restart. A sandbox that faults begins again, alone, with nothing of its earlier life; or it is parked when it has done so often enough."""

from tests.emulated.case import A64, ALL, ARM, ARMV7, GIC2, GICV2, GICV3, SVM, VTX, X86, Case, Sandbox
from tests.emulated.expect import Expectation, Kicked, NeverSays, NoExits, Off, Parked, Refused, Restarted, Returned, Says

SETTLED = "ticks=400"  # forty milliseconds: the others are up
ALONE = "a sandbox is restarted by its own monitor, and nobody else notices"


def health(restarts: int) -> str:
    return f'on-fault = "restart"; max-restarts = <{restarts}>; then = "park";'


def three_sandboxes(arguments: str, restarts: int = 3, beats: bool = True) -> tuple[Sandbox, ...]:
    mortal = Sandbox("mortal", 1, f"{SETTLED} {arguments}", health=health(restarts), beats=beats)
    return (Sandbox("bystander", 0), mortal, Sandbox("neighbour", 2))


def several(name: str, guards: str, arguments: str, *expected: Expectation, platforms: tuple[str, ...] = ALL) -> Case:
    """A sandbox of two cores, of which one does this or that when the other ends its life."""
    mortal = Sandbox("mortal", (1, 2), f"{SETTLED} {arguments} life cores ipi=1,10", health=health(3))
    sandboxes = (Sandbox("bystander", 0), mortal, Sandbox("neighbour", 3))
    seen = (Restarted("mortal", 1), Says("mortal", "life 1$"), Says("mortal", "core 1 on, "), Says("mortal", "ipis 10 of 10 to core 1$"))
    return Case(f"restart-{name}", guards, sandboxes, (*seen, *expected), platforms)


ALL_STOP = "no core of a sandbox runs while it is restarted, and all can run again"
SEVERAL = (
    several("beside-an-idle-core", ALL_STOP, "crash=1"),
    several("beside-a-spinning-core", ALL_STOP, "first=core=1,spin crash=1"),
    several("beside-a-core-asleep-masked", ALL_STOP, "first=core=1,sleep=masked crash=1"),
    several("beside-a-core-that-is-off", ALL_STOP, "first=core=1,off crash=1"),
    several("beside-a-storming-core", ALL_STOP, "first=core=1,storm crash=1"),
    several("beside-refusals-without-end", ALL_STOP, "first=core=1,endless=register crash=1", platforms=X86),
    several("beside-forbidden-instructions-without-end", ALL_STOP, "first=core=1,endless=forbidden crash=1", platforms=X86),
    several("by-the-second-core", ALL_STOP, "first=core=1,crash ticks=100"),
)

REQUESTS = (
    Case(
        "restart-asked-for",
        "a request begins again where there is a boot snapshot, and is not counted as a fault",
        three_sandboxes("life reboot=5 life", restarts=1),
        (Restarted("mortal", 5), Says("mortal", "life 5$")),
        ALL,
    ),
    Case(
        "restart-asked-for-often",
        "no core uses up tries that it has for kicks",
        (
            Sandbox("bystander", 0, beats=False),
            Sandbox("mortal", (1, 2), "ticks=9 crash=1 core=1,spin ticks=9 reboot=70", ram_mib=2, health=health(1)),
        ),
        (Restarted("mortal", 70),),
        GIC2,
    ),
    Case(
        "restart-asked-for-in-vain",
        "without on-fault = restart a request is the end",
        (Sandbox("bystander", 0), Sandbox("mortal", 1, f"{SETTLED} reboot ticks=10", beats=False)),
        (Off("mortal"), NeverSays("mortal", "ticks 10$")),
        ALL,
    ),
)

# ---- Nothing is left of the life before: each case puts something there that the next life looks for ------------------------


def forgets(name: str, guards: str, left: str, looked_for: str, platforms: tuple[str, ...], uart: str = "", value: int = 0) -> Case:
    """What one life leaves, by the words of its arguments, is `value` when the next looks for it."""
    first = " ".join(f"first={word}" for word in left.split())
    mortal = Sandbox("mortal", 1, f"{SETTLED} {first} crash=1 {looked_for}", uart=uart, health=health(1))
    expected = Returned("mortal", looked_for.split()[-1], value)
    return Case(f"restart-forgets-{name}", guards, (Sandbox("bystander", 0), mortal), (expected,), platforms)


def forgets_ipi(name: str, sent: str, platforms: tuple[str, ...]) -> Case:
    """Sent to machine core 2, the sandbox's second, while that is off."""
    mortal = Sandbox("mortal", (1, 2), f"{SETTLED} first=core=1,off {sent} crash=1 ticks=100 cores", health=health(1))
    expected = (Restarted("mortal", 1), Says("mortal", r"core 1 on, \d+ ticks, 0 ipis$"))
    guards = "what was requested of a core in one life is not delivered in the next"
    return Case(f"restart-forgets-{name}", guards, (Sandbox("bystander", 0), mortal), expected, platforms)


def forgets_the_rest(pinned: int, platforms: tuple[str, ...]) -> Case:
    """RAM of who takes the rest has two stretches, below and above what is pinned: its first page lies in one, its last in the other."""
    left = f"first=write={{mortal.gpa_last:#x}},{SECRET:#x} first=crash read={{mortal.gpa_last:#x}}"
    mortal = Sandbox("mortal", 1, f"{SETTLED} {left}", rest=True, health=health(1))
    between = Sandbox("between", 2, "park", ram_mib=1992, pinned=pinned, beats=False)
    expected = (Restarted("mortal", 1), Returned("mortal", "read={mortal.gpa_last:#x}", 0), Off("between"))
    return Case(
        "restart-forgets-the-rest",
        "memory is zero in all stretches of the rest",
        (Sandbox("bystander", 0, ram_mib=4), mortal, between),
        expected,
        platforms,
    )


SECRET, VECTOR_MC = 0x5EC2E7, 18
GICD_ISACTIVER1, LSTAR, POWER_PORT = 0x304, 0xC0000082, 0x604
SYSTEM_RESET, SYSTEM_RESET2 = 0x84000009, 0x84000012
X87_ALONE, OSXSAVE = 1, "cr4=0x40000"
CD = 0x40000000  # of CR0
MDSCR_TDCC = 1 << 12
AS_AT_FIRST = "registers are as at first"
FORGETS = (
    forgets(
        "memory",
        "memory is zero but for the payload",
        f"write={{mortal.gpa_last:#x}},{SECRET:#x}",
        "read={mortal.gpa_last:#x}",
        ALL,
    ),
    *(forgets_the_rest(start, platforms) for start, platforms in ((0x42000000, ARM), (0x02000000, X86))),
    forgets(
        "lines", "lines are as at first", f"gicd-write={GICD_ISACTIVER1:#x},0xffffffff", f"gicd-read={GICD_ISACTIVER1:#x}", ARM, "uart1"
    ),
    forgets("registers", AS_AT_FIRST, f"wrmsr={LSTAR:#x},{SECRET:#x}", f"rdmsr={LSTAR:#x}", X86),
    forgets("floating-point", AS_AT_FIRST, f"fp-write={SECRET:#x}", "fp-read", ALL),
    forgets("extended-state", AS_AT_FIRST, f"{OSXSAVE} xsetbv=7", f"{OSXSAVE} xgetbv", X86, value=X87_ALONE),
    forgets("cache-control", AS_AT_FIRST, f"cr0={CD:#x},{CD:#x}", f"cr0-read={CD:#x}", X86),
    forgets("breakpoints", AS_AT_FIRST, f"dr-write={SECRET:#x}", "dr-read", X86),
    forgets("active-priorities", AS_AT_FIRST, "msr-icc_ap0r0_el1=4", "mrs=ap0r0", (GICV3,)),
    forgets("debug-claims", AS_AT_FIRST, "msr-dbgclaimset_el1=5", "mrs=claim", A64),
    forgets("debug-control", AS_AT_FIRST, f"msr-mdscr_el1={MDSCR_TDCC:#x}", "mrs=debug", A64),
    forgets("thread-number", AS_AT_FIRST, f"msr-tpidr_el0={SECRET:#x}", "mrs=tpidr", A64),
    forgets("thread-number", AS_AT_FIRST, f"mcr-tpidrurw={SECRET:#x}", "mrc=tpidrurw", (ARMV7,)),
    forgets("counters", AS_AT_FIRST, "pmu-leave", "pmu-left", ARM),
    forgets_ipi("ipis", "first=sgi=0x1000004", (GICV3,)),
    forgets_ipi("ipis", "first=sgir=0x40001", GIC2),
    forgets_ipi("ipis", f"first=icr={2 << 32 | 0x4055:#x}", X86),
    forgets_ipi("ipis-like-machine-checks", f"first=icr={2 << 32 | 0x4000 | VECTOR_MC:#x}", X86),
    Case(
        "restart-forgets-registers-of-the-second-core",
        AS_AT_FIRST,
        (
            Sandbox("bystander", 0),
            Sandbox(
                "mortal",
                (1, 2),
                f"{SETTLED} first=core=1,wrmsr={LSTAR:#x},{SECRET:#x} ticks=100 crash=1 core=1,rdmsr={LSTAR:#x} ticks=100",
                health=health(1),
            ),
        ),
        (Restarted("mortal", 1), Returned("mortal", f"rdmsr={LSTAR:#x}", 0)),
        X86,
    ),
)


def every_register(platforms: tuple[str, ...], begins: str, dead: str = "-") -> Case:
    """The guest of tests/guests/forgets.c. `begins`: the registers that are not 0 at first; `dead`: those that these machines do not have."""
    expected = (
        Restarted("mortal", 1),
        Says("mortal", "^life 1: looked$"),
        NeverSays("mortal", "^left "),
        NeverSays("mortal", f"^first (?!({begins})$)"),
        NeverSays("mortal", f"^takes nothing (?!({dead}) )"),
    )
    mortal = Sandbox("mortal", 1, image="forgets.elf", health=health(1), beats=False)
    return Case("restart-forgets-every-register", AS_AT_FIRST, (Sandbox("bystander", 0), mortal), expected, platforms)


# By docs/guest.md, "Registers at entry"; then what machines show in registers that only identify, or that have a least value.
A64_ENTRY = "x0 0xc001000|SP 0x40080000|SCTLR_EL1 0x30d00800|DAIF 0x3c0|PMCR_EL0 0x41013040"
ARMV7_ENTRY = "r[02] 0xc001000|r1 0xffffffff|sp_svc 0x40080000|cpsr 0x1d3|SCTLR 0xc50078|PMCR 0x410f3000"
X86_ENTRY = (
    "R[SD]I 0xfd001000|RSP 0x9f000|RFLAGS 0x2|cr3 0x13000|cr4 0x20|dr6 0xffff0ff0|dr7 0x400|[des]s 0x18|gdt 0x12000001f"
    "|PAT 0x7040600070406|EFER 0x500|SVR 0x1ff|LVT_\\w+ 0x10000"
)
EVERY_REGISTER = (
    every_register((GICV3,), f"{A64_ENTRY}|ICC_BPR0_EL1 0x2|ICC_BPR1_EL1 0x3|ICC_CTLR_EL1 0x8c00", "AFSR[01]_EL1|AMAIR_EL1|ICC_CTLR_EL1"),
    every_register((GICV2,), f"{A64_ENTRY}|GICC_ABPR 0x1", "AFSR[01]_EL1|AMAIR_EL1"),
    every_register((ARMV7,), f"{ARMV7_ENTRY}|GICC_ABPR 0x1", "A[DI]FSR|WFAR|AMAIR[01]"),
    every_register((SVM,), f"{X86_ENTRY}|cr0 0x80000011"),
    every_register((VTX,), f"{X86_ENTRY}|cr0 0x80000031"),
)


def resets(name: str, command: str, platforms: tuple[str, ...]) -> Case:
    expected = (Restarted("mortal", 1), Says("mortal", "life 1$"), NoExits("bystander"))
    return Case(
        f"restart-by-{name}",
        "whatever ends a life in a reset begins another",
        three_sandboxes(f"first={command} life"),
        expected,
        platforms,
    )


ANY_VECTOR = "a restart takes what is pending, whatever its vector"
SELF_IPI, FEW, MANY = 0x83F, 6, 1000


def pending(name: str, restarts: int, platforms: tuple[str, ...], long: bool = False) -> Case:
    """Each life ends with all vectors below 32 pending, and leads to another until it is enough."""
    mortal = Sandbox("mortal", 1, "heartbeat=0 pend=0,31", ram_mib=4, health=health(restarts))
    expected = (Restarted("mortal", restarts), Parked("mortal", "reset"))
    return Case(
        name, ANY_VECTOR, (Sandbox("bystander", 0), mortal), expected, platforms, limit_beats=100000, limit_seconds=600.0, long=long
    )


VECTORS = (
    pending("restart-with-exceptions-vectors-pending", FEW, X86),
    pending("restart-with-exceptions-vectors-pending-often", MANY, (SVM,), long=True),
    Case(
        "restart-with-a-machine-check-s-vector-in-service",
        "a machine check in a monitor is one, whatever its guest has in service",
        (
            Sandbox("bystander", 0),
            Sandbox("mortal", 1, f"{SETTLED} first=wrmsr={SELF_IPI:#x},{VECTOR_MC} crash=1", health=health(1)),
        ),
        (Refused("mortal", f"wrmsr={SELF_IPI:#x},{VECTOR_MC}", "#MC"), Restarted("mortal", 1)),
        X86,
    ),
)

RESETS = (
    resets("psci", f"hvc={SYSTEM_RESET:#x}", ARM),
    resets("psci-warm", f"hvc={SYSTEM_RESET2:#x},0", ARM),
    resets("acpi", f"out={POWER_PORT:#x},1", X86),
    resets("triple-fault", "triple", X86),
)

KICKED = 2000


def silent(name: str, first: str, on_fault: str, *expected: Expectation, platforms: tuple[str, ...] = ALL) -> Case:
    """The first core, all there is, stops beating in the first life, for this."""
    sandboxes = (
        Sandbox("watcher", 0, "ticks=400 watch={mortal.index},5000,100", may_kick=("mortal",)),
        Sandbox("mortal", 1, f"ticks=800 life first={first}", health=f"{on_fault} heartbeat-timeout-us = <5000>;", beats=False),
        Sandbox("bystander", 2),
    )
    seen = (Says("watcher", "watched$"), NoExits("bystander"))
    return Case(name, "a sandbox that falls silent is stopped by whoever watches it", sandboxes, (*expected, *seen), platforms)


BEGUN_AGAIN = (Restarted("mortal", 1), Says("mortal", "life 1$"))
WATCHED = (
    silent("heartbeat-missed-by-refusals-without-end", "endless=register", health(3), *BEGUN_AGAIN, platforms=X86),
    silent("heartbeat-missed-by-forbidden-instructions-without-end", "endless=forbidden", health(3), *BEGUN_AGAIN, platforms=X86),
    silent("heartbeat-missed-and-parked", "endless=register", 'on-fault = "park";', Parked("mortal", "hang"), platforms=X86),
    Case(
        "restart-while-kicked",
        "a kick is answered, whatever becomes of whom it was sent to",
        (
            Sandbox("kicker", 0, f"ticks=400 kick={{mortal.index}},{KICKED}", may_kick=("mortal",), beats=False),
            Sandbox("mortal", 1, f"{SETTLED} ticks=10 crash=20", health=health(20), beats=False),
            Sandbox("bystander", 2),
        ),
        (Says("kicker", f"kicked {KICKED} of {KICKED}$"), Restarted("mortal", 20), Kicked("mortal", KICKED)),
        ALL,
        limit_beats=100000,
    ),
    Case(
        "heartbeat-missed",
        "a sandbox that falls silent is restarted by whoever watches it",
        (
            Sandbox("watcher", 0, "ticks=400 watch={mortal.index},5000,100", may_kick=("mortal",)),
            Sandbox("mortal", 1, "ticks=800 life first=spin", health=f"{health(3)} heartbeat-timeout-us = <5000>;"),
            Sandbox("bystander", 2),
        ),
        (Restarted("mortal", 1), Says("mortal", "life 1$"), Says("watcher", "watched$"), NoExits("bystander")),
        ALL,
    ),
    Case(
        "heartbeat-kept",
        "a sandbox that beats is left alone by whoever watches it",
        (
            Sandbox("watcher", 0, "ticks=400 watch={mortal.index},5000,100", may_kick=("mortal",)),
            Sandbox("mortal", 1, health=f"{health(3)} heartbeat-timeout-us = <5000>;"),
        ),
        (Says("watcher", "watched$"), Restarted("mortal", 0), Kicked("mortal", 100)),
        ALL,
    ),
)

CASES = (
    *SEVERAL,
    *REQUESTS,
    *FORGETS,
    *EVERY_REGISTER,
    *VECTORS,
    *RESETS,
    *WATCHED,
    Case(
        "restart-after-a-crash",
        ALONE,
        three_sandboxes("life crash=1 life"),
        (Restarted("mortal", 1), Says("mortal", "life 0$"), Says("mortal", "life 1$"), NoExits("bystander"), NoExits("neighbour")),
        ALL,
        quick=True,
    ),
    Case(
        "restart-again-and-again",
        "however often a sandbox begins again, a control loop beside it misses no beat",
        three_sandboxes("crash=20", restarts=20)[:2],
        (Restarted("mortal", 20), NoExits("bystander")),
        ALL,
    ),
    Case(
        "restart-until-it-is-enough",
        "restarts are counted",
        three_sandboxes("crash", beats=False),
        (Restarted("mortal", 3), Parked("mortal", "memory", "write"), NoExits("bystander")),
        ALL,
    ),
)
