# SPDX-License-Identifier: Apache-2.0
"""BH-I1.device. The I/O APIC of a PC as a sandbox sees it, and what instructions reach it. The attacker is core 1 and may own pin 4
(uart0), the victim core 2 with pin 3 (uart1). Intel 82093AA data sheet, 3.2.4 "IOREDTBL[23:0]": low word of pin n 0x10 + 2n, high word after it.
"""

from tests.emulated.case import SVM, X86, Case, Sandbox, attacked
from tests.emulated.expect import Expectation, Parked, Restarted, Returned, Says

IOAPIC, WINDOW = 0xFEC00000, 0xFEC00010
VERSION, OWN, FOREIGN = 0x01, 0x18, 0x16
OWN_VECTOR, MASKED, LOGICAL, LEVEL, ACTIVE_LOW = 0x34, 0x10000, 0x800, 0x8000, 0x2000


def write(register: int, value: int) -> str:
    return f"ioapic={IOAPIC:#x},{value << 32 | register:#x}"


def read(register: int) -> str:
    return f"ioapic-read={IOAPIC:#x},{register:#x}"


def three_sandboxes(commands: str, uart: str = "uart0") -> tuple[Sandbox, ...]:
    """The victim's line works all the while; so does the attacker's, where it ends well."""
    return (
        Sandbox("bystander", 0),
        Sandbox("attacker", 1, f"ticks=400 {commands}", beats=False, uart=uart),
        Sandbox("victim", 2, "ticks=600 uart-irqs=100", uart="uart1"),
    )


def case(name: str, guards: str, commands: tuple[str, ...], *expected: Expectation, uart: str = "uart0", quick: bool = False) -> Case:
    expect = (*expected, Says("victim", "uart-irqs 100"))
    return Case(f"ioapic-{name}", guards, three_sandboxes(" ".join(commands), uart), expect, X86, quick=quick)


OWNERS = "the I/O APIC's filter touches granted entries only"
FOREIGN_ENTRY = (
    case("mask-foreign-line", OWNERS, (write(FOREIGN, MASKED),), Returned("attacker", write(FOREIGN, MASKED), MASKED), quick=True),
    case("take-foreign-line", OWNERS, (write(FOREIGN, 0x55),), Returned("attacker", write(FOREIGN, 0x55), MASKED)),
    case("reroute-foreign-line", OWNERS, (write(FOREIGN + 1, 1 << 24),), Returned("attacker", write(FOREIGN + 1, 1 << 24), 0)),
    case("smi-of-foreign-line", OWNERS, (write(FOREIGN, 0x200),), Returned("attacker", write(FOREIGN, 0x200), MASKED)),
    case("without-lines", OWNERS, (write(OWN, 0x55),), Returned("attacker", write(OWN, 0x55), MASKED), uart=""),
    case("read-foreign-line", OWNERS, (read(FOREIGN),), Returned("attacker", read(FOREIGN), MASKED)),
    case("pins-up-to-the-last-granted", OWNERS, (read(VERSION),), Returned("attacker", read(VERSION), 0x40011)),
)

FORMS = "an entry of the I/O APIC delivers fixed interrupts to own cores only"


def never(name: str, *commands: str) -> Case:
    return case(name, FORMS, commands, Parked("attacker", "device", "write", f"{WINDOW:#x}"))


def kept(name: str, *words: tuple[int, int]) -> Case:
    """All is well: the last word reads as written, and the line still works."""
    commands = tuple(write(*word) for word in words)
    return case(
        name, FORMS, (*commands, "uart-irqs=100"), Returned("attacker", commands[-1], words[-1][1]), Says("attacker", "uart-irqs 100")
    )


OWN_ENTRY = (
    never("smi", write(OWN, 0x200 | OWN_VECTOR)),
    never("nmi", write(OWN, 0x400 | OWN_VECTOR)),
    never("init", write(OWN, 0x500 | OWN_VECTOR)),
    never("external", write(OWN, 0x700 | OWN_VECTOR)),
    never("exception-vector", write(OWN, 0x12)),
    never("foreign-core", write(OWN + 1, 2 << 24)),
    never("broadcast", write(OWN + 1, 0xFF << 24)),
    never("foreign-core-while-masked", write(OWN, MASKED), write(OWN + 1, 2 << 24), write(OWN, OWN_VECTOR)),
    never("logical-own-and-foreign", write(OWN, MASKED), write(OWN + 1, 6 << 24), write(OWN, LOGICAL | OWN_VECTOR)),
    kept("mask-and-unmask", (OWN, MASKED | OWN_VECTOR), (OWN, OWN_VECTOR)),
    kept("logical", (OWN, MASKED), (OWN + 1, 2 << 24), (OWN, LOGICAL | OWN_VECTOR)),
    kept("lowest-priority", (OWN, 0x100 | OWN_VECTOR)),
    kept("trigger-and-polarity", (OWN, LEVEL | ACTIVE_LOW | OWN_VECTOR)),
)

# ---- A level-triggered line: pin 23, the edu device's. QEMU alone has one, and models it; its I/O APIC takes every line for active high. ----

LEVEL_OWNERS = "a level line has no vector of another sandbox's level lines"
LEVEL_WORKS = "a level line stays in service until its end, is held while masked, and goes where its owner says among own cores"
EDU, EDU_ENTRY, EDU_VECTOR, ROUNDS = 0xC0000000, 0x3E, 0xF0, 50
LEVEL_ROUNDS = f"level-rounds={EDU:#x},{ROUNDS}"
ALL_ROUNDS = 2 * ROUNDS << 16 | 2 * ROUNDS  # tests/guests/probe/x86_64/level_line.h


def level(name: str, word: int, *expected: Expectation) -> Case:
    attacker = Sandbox("attacker", 1, f"ticks=400 {write(EDU_ENTRY, word)}", access=("pciedu0",), beats=False)
    return Case(f"ioapic-level-{name}", LEVEL_OWNERS, (Sandbox("bystander", 0), attacker, Sandbox("victim", 2)), expected, (SVM,))


def rounds(name: str, cores: int | tuple[int, ...], arguments: str = "", health: str = "", *expected: Expectation) -> Case:
    owner = Sandbox("owner", cores, f"ticks=99 {arguments}{LEVEL_ROUNDS}", access=("pciedu0",), health=health, beats=False)
    expect = (*expected, Returned("owner", LEVEL_ROUNDS, ALL_ROUNDS))
    return Case(f"ioapic-level-{name}", LEVEL_WORKS, (Sandbox("bystander", 0), owner, Sandbox("neighbour", 3)), expect, (SVM,))


LEVEL_ENTRY = (
    level("own-vector", EDU_VECTOR, Returned("attacker", write(EDU_ENTRY, EDU_VECTOR), EDU_VECTOR)),
    level("vector-that-linux-chooses", 0x55, Parked("attacker", "device", "write", f"{WINDOW:#x}")),
    level("vector-of-another-grant", EDU_VECTOR + 1, Parked("attacker", "device", "write", f"{WINDOW:#x}")),
    rounds("one-core", 1),
    rounds("moved-in-service", (1, 2)),
    rounds(
        "asserted-at-restart",
        1,
        f"first=level-leave={EDU:#x} crash=1 ",
        'on-fault = "restart"; max-restarts = <1>;',
        Restarted("owner", 1),
        Says("owner", f"stray interrupt {EDU_VECTOR:#x}"),
    ),
)

DECODER = "only a plain MOV of 32 bits is carried out on the I/O APIC; anything else parks"


def parked(name: str, command: str, kind: str, access: str, address: int = IOAPIC, quick: bool = False) -> Case:
    commands = f"{command}={address:#x}"
    return Case(f"ioapic-by-{name}", DECODER, attacked(commands), (Parked("attacker", kind, access),), X86, quick=quick)


ANY = " "  # the machine may call it a read or a write
INSTRUCTIONS = (
    parked("byte", "byte", "device", "write", quick=True),
    parked("word", "word", "device", "write"),
    parked("quadword", "quadword", "device", "write"),
    parked("extending-load", "extend", "memory", "read"),
    parked("half-a-register", "read", "device", "read", IOAPIC + 2),
    parked("both-sides-of-its-end", "straddle", "device", "read", IOAPIC + 0x1000),
    parked("both-sides-of-its-start", "straddle", "memory", "read"),
    parked("locked", "locked", "memory", ANY),
    parked("read-modify-write", "or", "memory", ANY),
    parked("string-from-ram", "string", "memory", "write"),
    parked("string-of-zeros", "store-string", "memory", "write"),
    parked("pop", "pop", "memory", "write"),
    parked("nontemporal-store", "nontemporal", "memory", "write"),
    parked("fetch", "execute", "memory", "execute"),
    parked("page-tables", "ptwalk", "memory", ANY),
    *(
        Case(f"ioapic-by-{name}", DECODER, attacked(f"{name}={IOAPIC:#x}"), (Returned("attacker", f"{name}={IOAPIC:#x}", 0),), X86)
        for name in ("constant", "prefixes")
    ),
)

CASES = (*FOREIGN_ENTRY, *OWN_ENTRY, *LEVEL_ENTRY, *INSTRUCTIONS)
