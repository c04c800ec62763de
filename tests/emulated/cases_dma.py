# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma. What a sandbox's network card reaches by itself. It sends frames to itself, from where it is told to where it is told.

The attacker owns nic0. What it has written is looked for in all of the machine's memory, from outside; what it reads comes back to the attacker.
"""

from tests.emulated.case import ARM, GICV3, SVM, VTD, Case, Sandbox
from tests.emulated.expect import Blocked, Contained, Expectation, Flooded, NeverSays, NoExits, Parked, Restarted, Returned, Says

CARD, OTHER_CARD = "nic0", "nic1"
WORD, FIRST = 0x0D60475A, 0x91F4CB2E0D60475A  # of a frame
SMMU, GICD, UART = 0x09050000, 0x08000000, 0x09000000
STREAM_TABLE = 0x80  # of the SMMU's registers, not zero; QEMU answers reads of 64 bits at the first with zeros
BAR0, ECAM = 0x2E200000, 0x3F008000
AMD_VI, VT_D, IO_APIC, MESSAGES = 0xFED80000, 0xFED90000, 0xFEC00000, 0xFEE00000
PC_BAR0, PC_ECAM, PC_WINDOW = 0xC0200000, 0xB0028000, 0xFD000000
PC_OTHER_BAR0, PC_OTHER_ECAM = 0xC0280000, 0xB0030000
PCS = (SVM, VTD)
ALL = (*ARM, *PCS)
WINDOW = 0x0C000000  # where a sandbox sees its own statistics, read only: `guest-window` of its board tree
OWN = "dma-write={attacker.gpa_last}"  # so that there is something to be found
REACHED = "a card reaches its sandbox's memory where the sandbox has it"
FLOODED = "a card that fills the queue of faults harms nobody, and recording goes on"
STORM_US, QUEUE_RECORDS = 500, 128
ANEW = "a function that can be reset by itself begins each life anew"
DISC_CC, PC_DISC_CC, CC_SIZES = 0x2E300014, 0xC0300014, 0x460000  # an NVMe controller's configuration, off; sizes of its queues' entries
SEEN, SEEN_ONLY = "who may see dma faults reads what the IOMMU records", "who may see dma faults writes none"
RECORDED = "what a card is kept from is a record with function, address, direction and sandbox"
ENDED = "a card that waits for a frame when its sandbox ends writes none"
SHARED = "a card drives no line of another's"
BLOCKED = "a card reaches nothing but its sandbox's memory"
FORGED = "what a card writes to where messages go interrupts nobody"


def attack(arguments: str) -> tuple[Sandbox, ...]:
    return (Sandbox("bystander", 0), Sandbox("attacker", 1, f"ticks=99 {arguments}", access=(CARD,), beats=False), Sandbox("victim", 2))


def writes(name: str, target: str, quick: bool = False, platforms: tuple[str, ...] = ALL) -> Case:
    """The card says that it did, as it is told nothing of what became of it."""
    command = f"dma-write={target}"
    expected = (Returned("attacker", OWN, 1), Returned("attacker", command, 1), Contained("attacker"))
    return Case(f"dma-write-{name}", BLOCKED, attack(f"{OWN} {command}"), expected, platforms, quick=quick, needs=(CARD,))


def writes_a_register(name: str, target: int, platforms: tuple[str, ...] = ARM) -> Case:
    """What a register has become shows in no memory, so the IOMMU's record says that the write did not arrive."""
    command = f"dma-write={target:#x}"
    expected = (Returned("attacker", command, 1), Blocked("attacker", CARD, "write", f"{target:#x}", "dma-unmapped"))
    return Case(f"dma-write-{name}", BLOCKED, attack(command), expected, platforms, needs=(CARD,))


def writes_a_register_and(name: str, target: int, commands: str, read: str, value: int) -> Case:
    """On QEMU's AMD-Vi, which records nothing: what the write would have changed is as it was."""
    command = f"dma-write={target:#x}"
    expected = (Returned("attacker", command, 1), Returned("attacker", read, value))
    return Case(f"dma-write-{name}", BLOCKED, attack(f"{command} {commands}{read}"), expected, (SVM,), needs=(CARD,))


def reads(name: str, target: str, quick: bool = False, platforms: tuple[str, ...] = ALL) -> Case:
    """What is not read is sent as zeros."""
    command = f"dma-read={target}"
    return Case(f"dma-read-{name}", BLOCKED, attack(command), (Returned("attacker", command, 0),), platforms, quick=quick, needs=(CARD,))


# An address names a core in bits 19:12, of messages, and data a vector in 7:0, a mode in 10:8: SDM vol. 3A, 11.11 "Message Signalled Interrupts".
FIXED, LOWEST, SMI, INIT, NMI = 0x55, 0x155, 0x200, 0x500, 0x455
EVERYBODY = 0xFF
COMMAND, MSI = 0x04, 0xD0  # nic0's capability: PCI Local Bus 3.0, 6.8.1 "MSI Capability Structure"
MSI_X, PC_TABLE = 0xA0, 0xC0240000
SET_CAUSE, ENABLE_CAUSE, CAUSES_LEAD = 0xC8, 0xD0, 0xE4  # Intel 82574 Datasheet, 10.2.4 "Interrupt Register Descriptions"
LINK, OTHER = 4, 1 << 24
MASTERING = 0x100406  # command and status of a card that masters, without its line
PENDING = 1 << 19  # of the status above the command: PCI Local Bus 3.0, 6.2.3 "Device Status"


def forges(name: str, core: int, data: int, quick: bool = False) -> Case:
    """Nothing arrives: whoever takes an interrupt it did not ask for says so, or stops. The attacker says so, too."""
    command = f"dma-message={MESSAGES | core << 12:#x},{data:#x}"
    people = (Sandbox("bystander", 0), Sandbox("attacker", 1, f"ticks=99 {command}", access=(CARD,)), Sandbox("victim", 2))
    return Case(f"dma-forges-{name}", FORGED, people, (Returned("attacker", command, 1),), (SVM,), quick=quick, needs=(CARD,))


def sends(name: str, core: int, data: int, expected: tuple[Expectation, ...], quick: bool = False) -> Case:
    """The card's own message, wherever its owner sends it, is a vector of its owner's core."""
    message = ((COMMAND, 6), (MSI + 4, MESSAGES | core << 12), (MSI + 8, 0), (MSI + 12, data), (MSI, 1 << 16))
    words = [f"write={PC_ECAM + register:#x},{value:#x}" for register, value in message]
    words += [f"write={PC_BAR0 + register:#x},{LINK}" for register in (ENABLE_CAUSE, SET_CAUSE)]
    people = attack(" ".join(words))
    return Case(f"dma-sends-{name}", FORGED, people, (Returned("attacker", words[-1]), *expected), PCS, quick=quick, needs=(CARD,))


def sends_by_table(core: int) -> Case:
    """By MSI-X: entry 0, whose upper address is 0, and to which the card's other causes lead."""
    message = ((PC_TABLE, MESSAGES | core << 12), (PC_TABLE + 8, FIXED), (PC_TABLE + 12, 0))
    causes = ((PC_BAR0 + CAUSES_LEAD, 1 << 19), (PC_BAR0 + ENABLE_CAUSE, OTHER), (PC_BAR0 + SET_CAUSE, LINK))
    words = [f"write={at:#x},{value}" for at, value in ((PC_ECAM + COMMAND, 6), (PC_ECAM + MSI_X, 1 << 31), *message, *causes)]
    people = (
        Sandbox("bystander", 0),
        Sandbox("attacker", 1, " ".join(["ticks=9", *words]), access=(CARD,), beats=False),
        Sandbox("victim", 2),
    )
    expected = (Returned("attacker", words[-1]), Says("attacker", "attacker: stray interrupt 0x55"))
    return Case("dma-sends-by-table-to-a-foreign-core", FORGED, people, expected, PCS, needs=(CARD,))


def resets_a_disc(name: str, register: int, platforms: tuple[str, ...]) -> Case:
    restarts = 'on-fault = "restart"; max-restarts = <1>;'
    command, read = f"ticks=99 first=write={register:#x},{CC_SIZES:#x} crash=1 read={register:#x}", f"read={register:#x}"
    people = (Sandbox("bystander", 0), Sandbox("mortal", 1, command, access=("disk0",), health=restarts))
    return Case(name, ANEW, people, (Restarted("mortal", 1), Returned("mortal", read, 0)), platforms, needs=("disk0",))


def holds_its_line() -> Case:
    """nic1 interrupts without messages, and its pin is pciuart0's: level-triggered, so that its owner would do nothing else any more."""
    command = f"write={PC_OTHER_ECAM + COMMAND:#x},0x6"
    causes = [f"write={PC_OTHER_BAR0 + register:#x},{LINK}" for register in (ENABLE_CAUSE, SET_CAUSE)]
    read = f"read={PC_OTHER_ECAM + COMMAND:#x}"
    people = (
        Sandbox("bystander", 0),
        Sandbox("attacker", 1, " ".join(["ticks=99", command, *causes, read]), access=(OTHER_CARD,), beats=False),
        Sandbox("victim", 2, access=("pciuart0",)),
    )
    expected = (Returned("attacker", causes[-1]), Returned("attacker", read, PENDING | MASTERING), NeverSays("victim", "stray"))
    return Case("dma-holds-a-shared-line", SHARED, people, expected, PCS, quick=True, needs=(OTHER_CARD, "pciuart0"))


INTERRUPTS = (
    holds_its_line(),
    forges("foreign-interrupt", 2, FIXED, quick=True),
    forges("own-interrupt", 1, FIXED),
    forges("interrupt-of-core-0", 0, FIXED),
    forges("interrupt-of-everybody", EVERYBODY, FIXED),
    forges("lowest-priority", 2, LOWEST),
    forges("system-management", 2, SMI),
    forges("init", 2, INIT),
    sends("vector-to-a-foreign-core", 2, FIXED, (Says("attacker", "attacker: stray interrupt 0x55"),), quick=True),
    sends("vector-to-everybody", EVERYBODY, FIXED, (Says("attacker", "attacker: stray interrupt 0x55"),)),
    sends_by_table(2),
    sends("nmi", 2, NMI, (NeverSays("attacker", "stray"), NoExits("bystander"), NoExits("victim"))),  # a monitor takes one for a kick
)

CASES = (
    *INTERRUPTS,
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
    writes_a_register("iommu-registers", SMMU),
    writes_a_register("distributor", GICD),
    writes_a_register("own-registers", BAR0),
    writes_a_register("own-configuration", ECAM),
    writes("own-statistics-of-a-pc", f"{PC_WINDOW:#x}", platforms=PCS),
    # With another device table the card reaches nothing any more.
    writes_a_register_and("amd-vi-registers", AMD_VI, f"{OWN} ", "read={attacker.gpa_last}", WORD),
    writes_a_register_and("own-configuration-on-svm", PC_ECAM, "", f"read={PC_ECAM + COMMAND:#x}", MASTERING),
    *(
        writes_a_register(name, target, (VTD,))
        for name, target in (
            ("vt-d-registers", VT_D),
            ("io-apic", IO_APIC),
            ("own-registers-of-a-pc", PC_BAR0),
            ("own-configuration-of-a-pc", PC_ECAM),
        )
    ),
    writes("messages", f"{MESSAGES:#x}", platforms=(SVM,)),
    reads("foreign-ram", "{victim.entry}"),
    reads("own-pool", "{attacker.pool}"),
    reads("monitor", "{image}", quick=True),
    reads("iommu-tables", "{iommu}"),
    reads("iommu-registers", f"{SMMU + STREAM_TABLE:#x}", platforms=ARM),
    reads("amd-vi-registers", f"{AMD_VI:#x}", platforms=(SVM,)),
    reads("vt-d-registers", f"{VT_D:#x}", platforms=(VTD,)),
    reads("own-registers", f"{BAR0:#x}", platforms=ARM),
    Case(
        "dma-fault-recorded",
        RECORDED,
        attack("dma-write={victim.ram_last} dma-read={victim.entry}"),
        (
            Returned("attacker", "dma-write={victim.ram_last}", 1),
            Blocked("attacker", CARD, "write", "{victim.ram_last}", "dma-unmapped"),
            Blocked("attacker", CARD, "read", "{victim.entry}", "dma-unmapped"),
        ),
        ARM,
        quick=True,
        needs=(CARD,),
    ),
    # Of an address VT-d tells the page, and of a function one fault until its record has been taken out.
    *(
        Case(
            f"dma-{access}-recorded-by-page",
            RECORDED,
            attack(f"dma-{access}={{victim.entry}}"),
            (Blocked("attacker", CARD, access, "{victim.entry}", "dma-unmapped"),),
            (VTD,),
            quick=access == "write",
            needs=(CARD,),
        )
        for access in ("write", "read")
    ),
    Case(
        "dma-fault-seen",
        SEEN,
        (
            Sandbox("watcher", 0, "ticks=2000 dma-faults", sees_dma_faults=True),
            Sandbox("attacker", 1, "ticks=99 dma-write={victim.ram_last}", access=(CARD,), beats=False),
            Sandbox("victim", 2),
        ),
        (
            Returned("attacker", "dma-write={victim.ram_last}", 1),
            Says("watcher", r"dma fault: nic0 \(function 0x8\) of attacker: write to {victim.ram_last:#x} blocked, code 0x10$"),
            Says("watcher", r"dma faults: [1-9]\d*$"),
        ),
        ARM,
        needs=(CARD,),
    ),
    Case(
        "dma-faults-written",
        SEEN_ONLY,
        (Sandbox("bystander", 0), Sandbox("attacker", 1, f"ticks=99 write={WINDOW + 0x8000:#x}", sees_dma_faults=True, beats=False)),
        (Parked("attacker", "memory", "write", f"{WINDOW + 0x8000:#x}"),),
        ARM,
    ),
    Case(
        "dma-flood-of-faults",
        FLOODED,
        (
            Sandbox("bystander", 0),
            Sandbox("attacker", 1, f"dma-storm={STORM_US}", image="dma-storm.elf", access=(CARD,), beats=False),
            Sandbox(
                "mortal",
                2,
                "ticks=199 first=crash=1 dma-write={mortal.gpa_last},1",
                access=("nic1",),
                health='on-fault = "restart"; max-restarts = <1>;',
            ),
        ),
        (Restarted("mortal", 1), Returned("mortal", "dma-write={mortal.gpa_last},1", 1), Flooded("attacker", QUEUE_RECORDS)),
        ARM,
        needs=(CARD, "nic1"),
    ),
    resets_a_disc("disc-reset-by-itself", DISC_CC, ARM),
    resets_a_disc("disc-of-a-pc-reset-by-itself", PC_DISC_CC, PCS),
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
    Case(
        "dma-that-was-let-when-its-sandbox-ended",
        ENDED,
        (
            Sandbox("bystander", 0),
            Sandbox("mortal", 1, "dma-listen=0 crash=1", access=(CARD,)),
            Sandbox("sender", 2, "ticks=400 dma-send=1 ticks=400 dma-send=1", access=(OTHER_CARD,), beats=False),
        ),
        (Returned("mortal", "dma-listen=0", 1), Parked("mortal", ""), Returned("sender", "dma-send=1", 1), Contained("sender")),
        (GICV3, *PCS),
        needs=(CARD, OTHER_CARD),
        hub=(CARD, OTHER_CARD),
    ),
)
