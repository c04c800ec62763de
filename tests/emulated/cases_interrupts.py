# SPDX-License-Identifier: Apache-2.0
"""BH-I3.forms. Interrupts out of the grant, in every form a sandbox can ask for one. The attacker is core 1, the victim core 2.

A victim that took an interrupt nobody sent it with right says so, and fails its case. The attacker's interrupts to itself
are the control: they show that one would be noticed.
"""

from dataclasses import replace

from tests.emulated.case import ARM, ARMV7, GIC2, GICV3, X86, Case, Sandbox, attacked
from tests.emulated.expect import Expectation, Kicked, Parked, Refused, Returned, Says

FILTER = "the send filter knows the sandbox's own cores"
STRAY = r": stray interrupt {}\b"

# ---- x2APIC: SDM vol. 3A, 11.12.9 "ICR Operation in x2APIC Mode"; destination 63:32, mode 10:8, vector 7:0 ------------


def icr(name: str, value: int, expected: Expectation | None = None, quick: bool = False, guards: str = FILTER) -> Case:
    """A write to ICR that names a core the sandbox does not have; parked unless said otherwise."""
    outcome = expected or Parked("attacker", "ipi", "write", value=f"{value:#x}")
    return Case(f"icr-{name}", guards, attacked(f"icr={value:#x}"), (outcome,), X86, quick=quick)


def to_foreign_core(name: str, mode: int, quick: bool = False) -> Case:
    return icr(name, 2 << 32 | 1 << 14 | mode << 8 | 0x55, quick=quick)


def never(name: str, mode: int) -> tuple[Case, Case]:
    """A delivery mode that no sandbox has, not even towards itself."""
    guards = "the send filter passes fixed interrupts only"
    cases = []
    for whom, core in (("foreign", 2), ("own", 1)):
        value = core << 32 | 1 << 14 | mode << 8 | 0x55
        cases.append(icr(f"{name}-to-{whom}-core", value, Refused("attacker", f"icr={value:#x}", "#GP"), guards=guards))
    return cases[0], cases[1]


def once(name: str, value: int) -> Case:
    """A core may send itself an NMI, and takes it once: a second one would find no attempt under way, and end it."""
    command = f"icr={value:#x}"
    expected = (Refused("attacker", command, "NMI"), Says("attacker", "ticks 20$"))
    return Case(f"icr-{name}", FILTER, attacked(f"{command} ticks=20"), expected, X86)


def harmless(name: str, *values: int, then: tuple[Expectation, ...] = ()) -> Case:
    """Forms that mean "every core": in a sandbox, its own."""
    commands = [f"icr={value:#x}" for value in values]
    guards = "broadcasts and shorthands are expanded to own cores"
    expected: tuple[Expectation, ...] = tuple(Returned("attacker", command, 0) for command in commands)
    return Case(f"icr-{name}", guards, attacked(" ".join(commands)), (*expected, *then), X86)


def level(name: str, value: int) -> Case:
    """To oneself, as level-triggered. Looked at before it is taken: Bochs clears the trigger mode register when the interrupt ends."""
    guards = "no IPI is level-triggered: its end would be told to every level line with its vector"
    command = f"icr-trigger={value:#x}"
    expected = (Says("attacker", STRAY.format(f"{value & 0xFF:#x}")), Returned("attacker", command, 0))
    return Case(f"icr-level-{name}-is-edge", guards, attacked(command), expected, X86)


ICR = (
    to_foreign_core("fixed", 0, quick=True),
    to_foreign_core("nmi", 4),
    to_foreign_core("init", 5, quick=True),
    to_foreign_core("startup", 6),
    *never("lowest-priority", 1),
    *never("smi", 2),
    *never("reserved-mode", 3),
    *never("external", 7),
    level("at-once", 1 << 32 | 0xC055),
    level("by-shorthand", 0x4C056),
    icr("logical-foreign", 0x4 << 32 | 1 << 14 | 1 << 11 | 0x55),
    icr("logical-own-and-foreign", 0x6 << 32 | 1 << 14 | 1 << 11 | 0x55),
    icr("logical-whole-cluster", 0xFFFF << 32 | 1 << 14 | 1 << 11 | 0x55),
    icr("logical-other-cluster", 0x1_0001 << 32 | 1 << 14 | 1 << 11 | 0x55),
    icr("absent-core", 9 << 32 | 1 << 14 | 0x55),
    harmless("self", 1 << 32 | 1 << 14 | 0x55, then=(Says("attacker", STRAY.format("0x55")),)),
    harmless("shorthand-self", 0x44056, then=(Says("attacker", STRAY.format("0x56")),)),
    harmless("shorthand-all", 0x84057, then=(Says("attacker", STRAY.format("0x57")),)),
    harmless("broadcast", 0xFFFFFFFF << 32 | 1 << 14 | 0x58, then=(Says("attacker", STRAY.format("0x58")),)),
    harmless("logical-broadcast", 0xFFFFFFFF << 32 | 1 << 14 | 1 << 11 | 0x59, then=(Says("attacker", STRAY.format("0x59")),)),
    harmless("shorthand-others", 0xC4055, 0xC4400, 0xC4500, 0xC4612),
    harmless("init-startup-broadcast", 0xFFFFFFFF << 32 | 0x4500, 0xFFFFFFFF << 32 | 0x4612),
    once("nmi-self", 0x44400),
    once("nmi-shorthand-all", 0x84400),
    once("nmi-broadcast", 0xFFFFFFFF << 32 | 0x4400),
)


def lvt(name: str, register: int, value: int, outcome: str = "#GP") -> Case:
    command = f"lvt={register:#x},{value:#x}"
    expected = Refused("attacker", command, outcome) if outcome else Returned("attacker", command, 0)
    return Case(f"lvt-{name}", "local vector table entries deliver fixed interrupts only", attacked(command), (expected,), X86)


def lvt_holds(name: str, register: int, value: int, kept: int) -> Case:
    """What the hardware was given of an entry."""
    commands = f"lvt={register:#x},{value:#x} rdmsr={register:#x}"
    expected = Returned("attacker", f"rdmsr={register:#x}", kept)
    return Case(f"lvt-holds-{name}", "local vector table entries deliver fixed interrupts only", attacked(commands), (expected,), X86)


MACHINE_CHECK, TIMER, THERMAL, PERFORMANCE, LINT0, LINT1, ERROR = 0x82F, 0x832, 0x833, 0x834, 0x835, 0x836, 0x837
MASKED = 1 << 16
LVT = (
    lvt("timer-smi", TIMER, 0x255),
    lvt("timer-nmi", TIMER, 0x455),
    lvt("timer-init", TIMER, 0x555),
    lvt("timer-external", TIMER, 0x755),
    lvt("lint0-smi", LINT0, 0x255),
    lvt("lint1-init", LINT1, 0x555),
    lvt("error-smi", ERROR, 0x255),
    lvt("error-init", ERROR, 0x555),
    lvt("performance-smi", PERFORMANCE, 0x255),
    lvt("thermal-smi", THERMAL, 0x255),
    # As kernels leave them, and kept masked: nothing is wired there.
    lvt("lint0-external", LINT0, 0x700, ""),
    lvt("lint1-nmi", LINT1, 0x400, ""),
    lvt("machine-check", MACHINE_CHECK, 0x55),  # of QEMU's processors none has it
    lvt_holds("lint0-external", LINT0, 0x755, MASKED | 0x55),
    lvt_holds("lint1-nmi", LINT1, 0x455, MASKED | 0x55),
    lvt_holds("lint0-level", LINT0, 0x8055, 0x55),
    lvt_holds("exception-vector", TIMER, 0x0F, MASKED | 0x0F),
)

# ---- GICv3: IHI 0069, "ICC_SGI1R_EL1"; INTID 27:24, target list 15:0, IRM 40 ------------------------------------------


def sgi(
    name: str, command: str, value: int, expected: Expectation | None = None, platforms: tuple[str, ...] = (GICV3,), quick: bool = False
) -> Case:
    outcome = expected or Parked("attacker", "ipi", "write", value=f"{value:#x}")
    return Case(f"{command}-{name}", FILTER, attacked(f"{command}={value:#x}"), (outcome,), platforms, quick=quick)


OWN, OTHER, ABSENT, EVERYBODY = 1 << 1, 1 << 2, 1 << 9, 1 << 40
GIC3 = (
    sgi("foreign", "sgi", 5 << 24 | OTHER, quick=True),
    sgi("own-and-foreign", "sgi", 5 << 24 | OWN | OTHER),
    sgi("absent-core", "sgi", 5 << 24 | ABSENT),
    sgi("other-cluster", "sgi", 5 << 24 | 1 << 16 | OWN),
    sgi("other-middle-cluster", "sgi", 5 << 24 | 1 << 32 | OWN),
    sgi("other-great-cluster", "sgi", 5 << 24 | 1 << 48 | OWN),
    sgi("other-range", "sgi", 5 << 24 | 1 << 44 | OWN),
    sgi("own", "sgi", 5 << 24 | OWN, Says("attacker", STRAY.format(5))),
    sgi("everybody-else", "sgi", EVERYBODY | 5 << 24, Returned("attacker", f"sgi={EVERYBODY | 5 << 24:#x}")),
    sgi("reserved-number-foreign", "sgi", 15 << 24 | OTHER),
    sgi("reserved-number-own", "sgi", 15 << 24 | OWN),
    sgi("reserved-number-everybody-else", "sgi", EVERYBODY | 15 << 24),
    sgi("group-0-foreign", "sgi0", 5 << 24 | OTHER),
    sgi("group-0-own", "sgi0", 5 << 24 | OWN),
    sgi("group-0-reserved-number", "sgi0", 15 << 24 | OTHER, quick=True),
    sgi("group-0-everybody-else", "sgi0", EVERYBODY | 15 << 24),
    sgi("alias-foreign", "asgi", 5 << 24 | OTHER),
)

# ---- GICv2: IHI 0048, 4.3.15 "GICD_SGIR"; filter 25:24, targets 23:16, INTID 3:0 --------------------------------------

OTHERS, SELF = 1 << 24, 2 << 24
GICD_SGIR = (
    sgi("foreign", "sgir", OTHER << 16 | 5, platforms=GIC2, quick=True),
    sgi("own-and-foreign", "sgir", (OWN | OTHER) << 16 | 5, platforms=GIC2),
    sgi("everybody", "sgir", 0xFF << 16 | 5, platforms=GIC2),
    sgi("self", "sgir", SELF | 5, Says("attacker", STRAY.format(5)), GIC2),
    sgi("own", "sgir", OWN << 16 | 5, Says("attacker", STRAY.format(5)), GIC2),
    sgi("all-others", "sgir", OTHERS | 5, Returned("attacker", f"sgir={OTHERS | 5:#x}"), GIC2),
    sgi("reserved-filter", "sgir", 3 << 24 | OTHER << 16 | 5, Returned("attacker", f"sgir={3 << 24 | OTHER << 16 | 5:#x}"), GIC2),
    sgi("reserved-number-foreign", "sgir", OTHER << 16 | 15, platforms=GIC2),
    sgi("reserved-number-own", "sgir", OWN << 16 | 15, platforms=GIC2),
    sgi("reserved-number-others", "sgir", OTHERS | 15, platforms=GIC2),
)

# ---- ARMv7: the same from every mode, whose registers are banked ---------------------------------------------------------

MODES = {"fiq": 0x11, "irq": 0x12, "abort": 0x17, "undefined": 0x1B, "system": 0x1F}
BANKED_MODES = tuple(
    Case(
        f"sgir-from-{name}-mode",
        FILTER,
        attacked(f"mode-sgir={mode:#x},{SELF | 5:#x} ticks=20 mode-sgir={mode:#x},{OTHER << 16 | 5:#x}"),
        (Says("attacker", STRAY.format(5)), Parked("attacker", "ipi", "write", value=f"{OTHER << 16 | 5:#x}")),
        (ARMV7,),
    )
    for name, mode in MODES.items()
)

# ---- Games with the distributor and the redistributors --------------------------------------------------------------
# Line 33 (uart0) is nobody's, line 40 (uart1) the victim's: word 1, bits 1 and 8.

ICENABLER1, ISENABLER1, IGROUPR1, ICPENDR1, ISPENDR1 = 0x184, 0x104, 0x084, 0x284, 0x204
PRIORITY_40, TARGETS_40, ICFGR_40, ROUTER_40 = 0x428, 0x828, 0xC08, 0x6140
OF_CORE_2 = 1 << 2  # its CPU interface, in a byte of targets


def distributor_game(
    name: str, commands: str, platforms: tuple[str, ...] = ARM, outcome: Expectation | None = None, quick: bool = False
) -> Case:
    """The victim's line goes on working, whatever the attacker writes about it; reading back shows nothing."""
    sandboxes = (
        Sandbox("bystander", 0),
        Sandbox("attacker", 1, f"ticks=400 {commands}", beats=False),
        Sandbox("victim", 2, "ticks=600 uart-irqs=300", uart="uart1"),
    )
    expected = (outcome or Returned("attacker", commands.split()[-1], 0), Says("victim", "uart-irqs 300"))
    return Case(f"distributor-{name}", "the distributor filter touches granted lines only", sandboxes, expected, platforms, quick=quick)


DISTRIBUTOR = (
    distributor_game("disable-foreign-line", f"gicd-write={ICENABLER1:#x},0x100", quick=True),
    distributor_game("enable-foreign-line", f"gicd-write={ISENABLER1:#x},0x2"),
    distributor_game("regroup-foreign-line", f"gicd-write={IGROUPR1:#x},0x100 gicd-write={IGROUPR1:#x},0"),
    distributor_game("raise-foreign-line", f"gicd-write={ISPENDR1:#x},0x2"),
    distributor_game("priority-of-foreign-line", f"gicd-write={PRIORITY_40:#x},0xff"),
    distributor_game("retrigger-foreign-line", f"gicd-write={ICFGR_40:#x},0xaaaa0000 gicd-write={ICFGR_40:#x},0"),
    distributor_game("retarget-foreign-line", f"gicd-write={TARGETS_40:#x},0x02", GIC2),
    distributor_game(
        "reroute-foreign-line", f"gicd-write={ROUTER_40:#x},0x1", (GICV3,), Parked("attacker", "device", "write")
    ),  # half a register
    distributor_game("a-byte-of-bits", f"gicd-write8={ISENABLER1:#x},0x2", outcome=Parked("attacker", "device", "write")),
    distributor_game("priorities", "gicd-write=0x400,0", GIC2, Returned("attacker", "gicd-write=0x400,0", 0x10101010)),
    distributor_game("sgi-without-a-sender", "gicd-write=0xf20,0", GIC2),
    distributor_game("switch-off", "gicd-write=0,0", ARM, Returned("attacker", "gicd-write=0,0")),
    Case(
        "distributor-targets-without-an-own-core",
        "a line goes to a core of its sandbox, or stays where it is",
        (Sandbox("bystander", 0), Sandbox("owner", 2, f"ticks=99 gicd-write={TARGETS_40:#x},0x01 uart-irqs=300", uart="uart1")),
        (Returned("owner", f"gicd-write={TARGETS_40:#x},0x01", OF_CORE_2), Says("owner", "uart-irqs 300")),
        GIC2,
    ),
)


def disarming_game(name: str, commands: str, platforms: tuple[str, ...]) -> Case:
    """Whatever the attacker does to its own interrupt registers, its monitor still answers kicks."""
    sandboxes = (
        Sandbox("kicker", 0, "ticks=800 kick={attacker.index},100", may_kick=("attacker",), beats=False),
        Sandbox("attacker", 1, f"ticks=400 {commands} sleep=masked", beats=False),
        Sandbox("bystander", 2),
    )
    expected = (Says("kicker", "kicked 100 of 100"), Says("attacker", ": sleep"), Kicked("attacker", 100))
    return Case(f"disarm-{name}", "no guest can mask, lose or forge a kick", sandboxes, expected, platforms)


SGI_FRAME = 0x10000
DISARMING = (
    disarming_game("disable-sgis", f"gicr-write={SGI_FRAME + 0x180:#x},0xffffffff", (GICV3,)),
    disarming_game("regroup-sgis", f"gicr-write={SGI_FRAME + 0x080:#x},0xffffffff", (GICV3,)),
    disarming_game("lowest-priority", f"gicr-write={SGI_FRAME + 0x40C:#x},0xffffffff", (GICV3,)),
    disarming_game("clear-pending", f"gicr-write={SGI_FRAME + 0x280:#x},0xffffffff", (GICV3,)),
    disarming_game("redistributor-asleep", "gicr-write=0x14,0x2", (GICV3,)),
    disarming_game("tables-for-lpis", "gicr-write=0x70,0x41000000 gicr-write=0x78,0x41000000 gicr-write=0,1", (GICV3,)),
    disarming_game("cpu-interface", "msr-icc_pmr_el1=0 msr-icc_igrpen0_el1=0 msr-icc_igrpen1_el1=0", (GICV3,)),
    disarming_game("priority-mask", "msr-icc_pmr_el1=0", (GICV3,)),
    disarming_game("distributor-off", "gicd-write=0,0", (GICV3,)),
    disarming_game("active-priority", "msr-icc_ap1r0_el1=1", (GICV3,)),  # as if its most urgent interrupt never ended
    disarming_game("disable-sgis", "gicd-write=0x180,0xffffffff", GIC2),
    disarming_game("regroup-sgis", "gicd-write=0x080,0xffffffff", GIC2),
    disarming_game("lowest-priority", "gicd-write=0x40c,0xffffffff", GIC2),
    disarming_game("clear-pending", "gicd-write=0xf1c,0xffffffff", GIC2),
    disarming_game("distributor-off", "gicd-write=0,0", GIC2),
)

# ---- Other cores' redistributors: IHI 0069, "GICR_TYPER" ---------------------------------------------------------------------------

FRAMES, FRAME_BYTES = 0x080A0000, 0x20000
LAST, NOBODY = 0x100, 0xFFFFFFFF
SOMEBODY_ELSES = "foreign redistributors are seen to be there, and are nobody's"


def shows(name: str, core: int, offset: int, value: int, quick: bool = False) -> Case:
    """What a register of that core's reads as, when ones have been written to it; the victim beats on."""
    address = FRAMES + core * FRAME_BYTES + offset
    commands = f"write={address:#x},0xffffffff read={address:#x}"
    return Case(
        f"redistributor-{name}",
        SOMEBODY_ELSES,
        attacked(commands),
        (Returned("attacker", f"read={address:#x}", value),),
        (GICV3,),
        quick=quick,
    )


WALK = f"walk={FRAMES:#x}"
REDISTRIBUTORS = (
    shows("foreign-type", 2, 0x8, 0),
    shows("foreign-affinity", 2, 0xC, NOBODY),
    shows("foreign-identification", 2, 0xFFE8, 0x3B),
    shows("foreign-waker", 2, 0x14, 0),
    shows("foreign-lines", 2, SGI_FRAME + 0x180, 0, quick=True),
    shows("foreign-groups", 2, SGI_FRAME + 0x80, 0),
    shows("of-an-idle-core", 3, SGI_FRAME + 0x100, 0),
    Case("redistributor-walk", SOMEBODY_ELSES, attacked(WALK), (Returned("attacker", WALK, LAST | 1),), (GICV3,), quick=True),
    Case(
        "redistributor-walk-by-two",
        SOMEBODY_ELSES,
        (Sandbox("bystander", 0), Sandbox("walkers", (3, 1), f"ticks=400 {WALK} core=1,{WALK}", beats=False)),
        (Says("walkers", "returned 0x103$"), Says("walkers", "returned 0x1$")),
        (GICV3,),
    ),
)

# ---- The own banked lines, as a guest may have them: IHI 0069, "GICR_IGROUPR0", "GICR_IPRIORITYR<n>" ------------------

OWN_SGI = 5 << 24 | OWN


def banked(name: str, guards: str, offset: int, value: int) -> Case:
    """A write of zero reads back as `value`, and own interrupts still arrive."""
    command = f"gicr-write={SGI_FRAME + offset:#x},0"
    expected = (Returned("attacker", command, value), Says("attacker", STRAY.format(5)))
    return Case(f"banked-{name}", guards, attacked(f"{command} sgi={OWN_SGI:#x}"), expected, (GICV3,))


BANKED = (
    banked("groups", "lines of a sandbox stay in group 1", 0x080, 0xFFFF7FFF),
    banked("priorities", "no line of a sandbox outranks the kick", 0x400, 0x10101010),
)

# ---- Order: IHI 0048, 3.3 "Interrupt prioritization"; IHI 0069, 4.8 ----------------------------------------------------------

RUNS = 50


def order(name: str, platforms: tuple[str, ...]) -> Case:
    """Two pending at once, made pending in either order, on either number: the more urgent one comes first, every time."""
    sandboxes = (Sandbox("bystander", 0), Sandbox("worker", 1, f"ticks=400 order={RUNS}"), Sandbox("neighbour", 2))
    guards = "what the distributor filter writes is the priority the guest gave"
    return Case(f"order-{name}", guards, sandboxes, (Returned("worker", f"order={RUNS}", RUNS),), platforms, quick=True)


ORDER = (order("of-two-pending", ARM),)

# ---- Masks: IHI 0048, 4.4.2 "GICC_PMR"; IHI 0069, "ICC_PMR_EL1" ----------------------------------------------------------------


def masked(name: str, mask: int, came: int, platforms: tuple[str, ...] = ARM, reads: int | None = None) -> Case:
    """Of two that are pending, of priority 0x40 and 0x80, so many come while the mask holds; the others when it no longer does."""
    value = 0x80 << 24 | 0x40 << 16 | 2 << 12 | came << 8 | (mask if reads is None else reads)
    sandboxes = (Sandbox("bystander", 0), Sandbox("worker", 1, f"ticks=400 mask={mask:#x}", beats=False), Sandbox("neighbour", 2))
    return Case(
        f"mask-{name}", "a guest's priority mask is the machine's", sandboxes, (Returned("worker", f"mask={mask:#x}", value),), platforms
    )


MASKS = (
    replace(masked("of-everything", 0, 0), quick=True),
    masked("below-all", 0x8, 0),
    masked("that-rounds-to-nothing", 0x7, 0, (GICV3,), reads=0),  # five bits are implemented
    masked("at-the-more-urgent", 0x40, 0),
    masked("between-two", 0x60, 1),
    masked("at-the-less-urgent", 0x80, 1),
    masked("of-nothing", 0xF0, 2),
)

# ---- What is fixed of a GICv3's CPU interface: IHI 0069, "ICC_CTLR_EL1" --------------------------------------------------------

PRIORITY_BITS, INTID_BITS, AFFINITY_3 = 4 << 8, 1 << 11, 1 << 15
INTERFACE = (
    Case(
        "interface-control",
        "how interrupts end is the monitor's choice, and one write",
        attacked("msr-icc_ctlr_el1=0xffffffff dir=40"),
        (
            Returned("attacker", "msr-icc_ctlr_el1=0xffffffff", PRIORITY_BITS | INTID_BITS | AFFINITY_3),
            Refused("attacker", "dir=40", "(undefined instruction|trapped system register)"),
        ),
        (GICV3,),
    ),
)

CASES = (*MASKS, *INTERFACE, *REDISTRIBUTORS, *ORDER, *ICR, *LVT, *GIC3, *GICD_SGIR, *BANKED_MODES, *DISTRIBUTOR, *DISARMING, *BANKED)
