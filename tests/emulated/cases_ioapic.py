# SPDX-License-Identifier: Apache-2.0
"""BH-I1.device, BH-I3.forms. The I/O APIC of a PC as a sandbox sees it, and what instructions reach it. The attacker is core 1 and may own pin 4
(uart0), the victim core 2 with pin 3 (uart1). Intel 82093AA data sheet, 3.2.4 "IOREDTBL[23:0]": low word of pin n 0x10 + 2n, high word behind it.
"""

from tests.emulated.case import X86, Case, Sandbox, attacked
from tests.emulated.expect import Expectation, Parked, Returned, Says

IOAPIC, WINDOW = 0xFEC00000, 0xFEC00010
VERSION, OWN, FOREIGN = 0x01, 0x18, 0x16
OWN_VECTOR, MASKED, LOGICAL, LEVEL, ACTIVE_LOW = 0x34, 0x10000, 0x800, 0x8000, 0x2000


def write(register: int, value: int) -> str:
    return f"ioapic={IOAPIC:#x},{value << 32 | register:#x}"


def read(register: int) -> str:
    return f"ioapic-read={IOAPIC:#x},{register:#x}"


def company(commands: str, uart: str = "uart0") -> tuple[Sandbox, ...]:
    """The victim's line works all the while; so does the attacker's, where it ends well."""
    return (
        Sandbox("bystander", 0),
        Sandbox("attacker", 1, f"ticks=400 {commands}", beats=False, uart=uart),
        Sandbox("victim", 2, "ticks=600 uart-irqs=100", uart="uart1"),
    )


def case(name: str, guards: str, commands: tuple[str, ...], *expected: Expectation, uart: str = "uart0", quick: bool = False) -> Case:
    expect = (*expected, Says("victim", "uart-irqs 100"))
    return Case(f"ioapic-{name}", guards, company(" ".join(commands), uart), expect, X86, quick=quick)


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

CASES = (*FOREIGN_ENTRY, *OWN_ENTRY, *INSTRUCTIONS)
