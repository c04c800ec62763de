# SPDX-License-Identifier: Apache-2.0
"""BH-I1.device. PCI functions: what a sandbox reads of others, and what it may write to its own. The same on every machine.

The attacker owns an edu device, the victim a serial card and a test device. Configuration registers are read and written
through ECAM on ARM, through ports 0xCF8 and 0xCFC on a PC.
"""

from dataclasses import dataclass, replace

from tests.emulated.case import ARM, GICV3, SVM, VTX, Case, Sandbox
from tests.emulated.expect import Expectation, NoExits, Parked, Restarted, Returned

ECAM_ARM, ECAM_PC = 0x3F000000, 0xB0000000
HOST, SERIAL, EDU, TEST, EMPTY = 0x00, 0x10, 0x18, 0x20, 0x48  # device << 3 | function on bus 0 of QEMU's machines
BRIDGE, IDE, DISPLAY = 0x08, 0x09, 0x10  # on Bochs'
DEVICES = ("pciuart0", "pciedu0", "pcitest0")
IDENTITY, COMMAND, BAR0, ROM, LINE, MSI = 0x00, 0x04, 0x10, 0x30, 0x3C, 0x40
ONES = 0xFFFFFFFF
DECODE, MASTER, INTX_OFF = 3, 4, 1 << 10
CAPABILITIES = 1 << 20  # in the status above the command
EDU_SIZE = 0xFFF00000


@dataclass(frozen=True)
class Machine:
    """How a machine's sandboxes get at registers, and where its board tree has the edu device's and the test device's memory."""

    platforms: tuple[str, ...]
    edu: int
    test: int
    ecam: int
    ports: bool

    def peek(self, function: int, register: int) -> str:
        if self.ports:
            return f"out32=3320,{1 << 31 | function << 8 | register:#x} in32=3324"
        return f"read={self.ecam + (function << 12) + register:#x}"

    def poke(self, function: int, register: int, value: int) -> str:
        if self.ports:
            return f"out32=3320,{1 << 31 | function << 8 | register:#x} out32=3324,{value:#x}"  # 0xCF8, 0xCFC: arguments are short
        return f"write={self.ecam + (function << 12) + register:#x},{value:#x}"

    def reads(self, who: str, function: int, register: int, value: int) -> Returned:
        """The last such read."""
        return Returned(who, self.peek(function, register).split()[-1], value)


MACHINES = (
    Machine(ARM, 0x2E000000, 0x2E100000, ECAM_ARM, ports=False),
    Machine((SVM,), 0xC0000000, 0xC0100000, ECAM_PC, ports=True),
)


def three_sandboxes(attacker: str, victim: str = "") -> tuple[Sandbox, ...]:
    """The victim looks again when the attacker has done."""
    return (
        Sandbox("bystander", 0),
        Sandbox("attacker", 1, f"ticks=99 {attacker}", access=("pciedu0",), beats=False),
        Sandbox("victim", 2, f"ticks=800 {victim}" if victim else "", access=("pciuart0", "pcitest0"), beats=not victim),
    )


def cases(m: Machine) -> tuple[Case, ...]:
    def writes(name: str, guards: str, pokes: tuple[tuple[int, int], ...], register: int, value: int, quick: bool = False) -> Case:
        """The attacker writes to its own function, then reads a register."""
        words = " ".join([*(m.poke(EDU, at, text) for at, text in pokes), m.peek(EDU, register)])
        return Case(name, guards, three_sandboxes(words), (m.reads("attacker", EDU, register, value),), m.platforms, quick=quick)

    def sees(name: str, guards: str, function: int, value: int, quick: bool = False) -> Case:
        found = m.reads("attacker", function, IDENTITY, value)
        return Case(name, guards, three_sandboxes(m.peek(function, IDENTITY)), (found,), m.platforms, quick=quick)

    def harms_not(name: str, guards: str, poke: tuple[int, int], register: int, value: int) -> Case:
        """The attacker writes to the victim's serial card, which the victim then finds as it was."""
        found: tuple[Expectation, ...] = (m.reads("victim", SERIAL, register, value),)
        return Case(name, guards, three_sandboxes(m.poke(SERIAL, *poke), m.peek(SERIAL, register)), found, m.platforms)

    def forgets(name: str, pokes: tuple[tuple[int, int], ...], register: int, value: int) -> Case:
        """What one life did to its function, the next finds undone."""
        words = " ".join(m.poke(EDU, at, text) for at, text in pokes).split()
        arguments = " ".join(["ticks=99", *(f"first={word}" for word in words), "crash=1", m.peek(EDU, register)])
        mortal = Sandbox("mortal", 1, arguments, access=("pciedu0",), health='on-fault = "restart"; max-restarts = <1>;')
        seen = (Restarted("mortal", 1), m.reads("mortal", EDU, register, value))
        return Case(name, "a restart puts functions back", (Sandbox("bystander", 0), mortal), seen, m.platforms)

    shown = "of functions that are not its own a sandbox reads ones"
    moved = "a function answers at its granted addresses or nowhere"
    dropped = "capabilities, ROM and status are not written"
    sizing = () if m.ports else ((BAR0, ONES),)  # arguments are short
    serial_bar = 0xD001 if m.ports else 0x1001
    return (
        sees("pci-own-function", "own functions show their registers", EDU, 0x11E81234),
        sees("pci-foreign-function", shown, SERIAL, ONES, quick=True),
        sees("pci-host-bridge", shown, HOST, ONES),
        sees("pci-empty-slot", shown, EMPTY, ONES),
        Case(
            "pci-foreign-base-address",
            "what a base address leads to is mapped only to its owner",
            three_sandboxes(f"read={m.test:#x}"),
            (Parked("attacker", "memory", "read", f"{m.test:#x}"),),
            m.platforms,
        ),
        harms_not("pci-switch-off-foreign", shown, (COMMAND, 0), COMMAND, DECODE),
        harms_not("pci-move-foreign", shown, (BAR0, ONES), BAR0, serial_bar),
        writes("pci-bus-master", "no function masters the bus", ((COMMAND, DECODE | MASTER),), COMMAND, CAPABILITIES | DECODE, quick=True),
        writes("pci-interrupt-off", "INTx may be switched off", ((COMMAND, DECODE | INTX_OFF),), COMMAND, CAPABILITIES | DECODE | INTX_OFF),
        writes("pci-move-while-decoding", moved, ((BAR0, m.edu + 0x1000000),), BAR0, m.edu),
        writes("pci-size-while-decoding", moved, ((BAR0, ONES),), BAR0, m.edu),
        writes("pci-move", moved, ((COMMAND, 0), (BAR0, m.edu + 0x1000000)), BAR0, m.edu, quick=True),
        writes("pci-size", "a base address tells its size", ((COMMAND, 0), (BAR0, ONES)), BAR0, EDU_SIZE),
        writes("pci-decode-displaced", moved, ((COMMAND, 0), (BAR0, ONES), (COMMAND, DECODE)), COMMAND, CAPABILITIES, quick=True),
        writes("pci-decode-again", moved, ((COMMAND, 0), *sizing, (BAR0, m.edu), (COMMAND, DECODE)), COMMAND, CAPABILITIES | DECODE),
        writes("pci-message-enable", dropped, ((MSI, 1 << 16),), MSI, 0x00800005),
        writes("pci-message-address", dropped, ((MSI + 4, 0xFEE00000),), MSI + 4, 0),
        writes("pci-rom", dropped, ((COMMAND, 0), (ROM, ONES)), ROM, 0),
        forgets("pci-restart-decoding", ((COMMAND, INTX_OFF),), COMMAND, CAPABILITIES | DECODE),
        forgets("pci-restart-displaced", ((COMMAND, 0), (BAR0, ONES)), BAR0, m.edu),
        writes("pci-interrupt-note", "the line register is a note for software", ((LINE, 0x5A),), LINE, 0x15A),
    )


ECAM_ONLY = (
    Case(
        "pci-enumeration-exitless",
        "BH-I2.exitless: configuration registers are read without an exit",
        three_sandboxes(" ".join(f"read={ECAM_ARM + (device << 15):#x}" for device in range(6))),
        (Returned("attacker", f"read={ECAM_ARM + (5 << 15):#x}", ONES), NoExits("attacker", besides=("idle",))),
        ARM,
    ),
    Case(
        "pci-next-bus",
        "only buses that exist are shown",
        three_sandboxes(f"read={ECAM_ARM + 0x100000:#x}"),
        (Parked("attacker", "memory", "read", f"{ECAM_ARM + 0x100000:#x}"),),
        ARM,
    ),
    Case(
        "pci-write-undescribed",
        "a write the syndrome does not describe parks",
        three_sandboxes(f"locked={ECAM_ARM + (EDU << 12) + COMMAND:#x}"),
        (Parked("attacker", "memory", " ", f"{ECAM_ARM + (EDU << 12) + COMMAND:#x}"),),
        ARM,
    ),
)

# ---- Bochs has no ECAM: all functions are behind one pair of ports --------------------------------------------------------

PORTS = Machine((VTX,), 0, 0, 0, ports=True)
CARD_PORTS = 0xC100
# DP8390: byte count, address of what is read, then the command; the data comes at 0x10, first each byte of the address 52:54:00:12:34:56 twice.
READ_CARD = "out=0xc10a,32 out=0xc108,0 out=0xc109,0 out=0xc100,10 in=0xc110 in=0xc110 in=0xc110"
IDE_BAR, IDE_PORTS, IDE_SIZE, IDE_STATUS = 0x20, 0xC001, 0xFFFFFFF1, 0x800000
SHOWN, MOVED = "of functions that are not its own a sandbox reads ones", "a function answers at its granted addresses or nowhere"


def behind_ports(
    name: str, guards: str, pokes: tuple[tuple[int, int], ...], function: int, register: int, value: int, own: str = "pciide0"
) -> Case:
    """The attacker, who owns the IDE function or the display, writes registers of `function`, then reads one."""
    words = " ".join([*(PORTS.poke(function, at, text) for at, text in pokes), PORTS.peek(function, register)])
    sandboxes = (Sandbox("bystander", 0), Sandbox("attacker", 1, f"ticks=99 {words}", access=(own,), beats=False))
    return Case(f"pci-ports-{name}", guards, sandboxes, (PORTS.reads("attacker", function, register, value),), PORTS.platforms)


def of_own(name: str, guards: str, pokes: tuple[tuple[int, int], ...], register: int, value: int) -> Case:
    return behind_ports(name, guards, pokes, IDE, register, value)


def victims_display(name: str, poke: tuple[int, int], register: int, value: int) -> Case:
    """The attacker, with the IDE function, writes to the victim's display, which the victim then finds as it was."""
    sandboxes = (
        Sandbox("bystander", 0),
        Sandbox("attacker", 1, f"ticks=99 {PORTS.poke(DISPLAY, *poke)}", access=("pciide0",), beats=False),
        Sandbox("victim", 2, f"ticks=800 {PORTS.peek(DISPLAY, register)}", access=("pcivga0",), beats=False),
    )
    return Case(f"pci-ports-{name}", SHOWN, sandboxes, (PORTS.reads("victim", DISPLAY, register, value),), PORTS.platforms)


SHARED_PORTS = (
    behind_ports("own-function", "own functions show their registers", (), DISPLAY, IDENTITY, 0x11111234, own="pcivga0"),
    behind_ports("host-bridge", SHOWN, (), HOST, IDENTITY, ONES),
    behind_ports("neighbour-of-one-device", SHOWN, (), BRIDGE, IDENTITY, ONES),
    behind_ports("foreign-function", SHOWN, (), DISPLAY, IDENTITY, ONES),
    # The display decodes for ever, wherever it is.
    behind_ports("display-move", MOVED, ((COMMAND, 0), (BAR0, 0xE8000000)), DISPLAY, BAR0, 0xE0000008, own="pcivga0"),
    victims_display("move-foreign", (BAR0, 0xE8000000), BAR0, 0xE0000008),
    of_own("bus-master", "no function masters the bus", ((COMMAND, DECODE | MASTER),), COMMAND, IDE_STATUS | 1),
    of_own("move-while-decoding", MOVED, ((IDE_BAR, 0xD001),), IDE_BAR, IDE_PORTS),
    of_own("size-while-decoding", MOVED, ((IDE_BAR, ONES),), IDE_BAR, IDE_PORTS),
    of_own("move", MOVED, ((COMMAND, 0), (IDE_BAR, 0xD001)), IDE_BAR, IDE_PORTS),
    of_own("size", "a base address tells its size", ((COMMAND, 0), (IDE_BAR, ONES)), IDE_BAR, IDE_SIZE),
    of_own("decode-displaced", MOVED, ((COMMAND, 0), (IDE_BAR, ONES), (COMMAND, DECODE)), COMMAND, IDE_STATUS),
    of_own("decode-again", MOVED, ((COMMAND, 0), (IDE_BAR, IDE_PORTS), (COMMAND, DECODE)), COMMAND, IDE_STATUS | 1),
    Case(
        "pci-ports-foreign-base-address",
        "what a base address leads to is granted only to its owner",
        (
            Sandbox("bystander", 0),
            Sandbox("attacker", 1, f"ticks=99 in={IDE_PORTS & ~1:#x}", access=("pcivga0",), beats=False),
            Sandbox("victim", 2, access=("pciide0",)),
        ),
        (Parked("attacker", "port", "read", f"{IDE_PORTS & ~1:#x}"),),
        PORTS.platforms,
    ),
    Case(
        "pci-ports-network-card",
        "BH-I2.exitless: a card that is ports alone is its owner's without an exit",
        (Sandbox("bystander", 0), Sandbox("owner", 1, f"ticks=99 {READ_CARD}", access=("nic0",), beats=False)),
        (Returned("owner", "in=0xc110", 0x54), NoExits("owner")),
        PORTS.platforms,
    ),
    Case(
        "pci-ports-foreign-network-card",
        "a card that is ports alone is nobody else's",
        (
            Sandbox("bystander", 0),
            Sandbox("attacker", 1, f"ticks=99 in={CARD_PORTS:#x}", access=("pcivga0",), beats=False),
            Sandbox("victim", 2, access=("nic0",)),
        ),
        (Parked("attacker", "port", "read", f"{CARD_PORTS:#x}"),),
        PORTS.platforms,
    ),
)

# ---- Two cores of a sandbox at once: check and write are one step, as are address and data ---------------------------------

AT_ONCE, ROUNDS = "what one core checks or selects no other changes before it is used", 2000


def displaced_while_enabled() -> Case:
    """Decoding is on only where the function is in its place, whichever core is quicker. Rarely red: pci_test.c asks for the lock every time.

    The first core waits for the other's work, not for a time: a busy host may let the other begin late, and an answer counts for the last attempt said.
    """
    page = ECAM_ARM + (EDU << 12)
    commands = f"ticks=99 core=1,decode={page:#x},{10**9} decoded={page:#x} displace={page:#x},{ROUNDS}"
    sandboxes = (Sandbox("bystander", 0), Sandbox("pair", (1, 2), commands, access=("pciedu0",), beats=False))
    expected = (Returned("pair", f"displace={page:#x},{ROUNDS}", 0),)
    return Case("pci-displaced-while-enabled", AT_ONCE, sandboxes, expected, (GICV3,), icount=False, needs=DEVICES)


def selected_by_two(function: int, access: str, platforms: tuple[str, ...]) -> Case:
    """Each core has an address register of its own."""
    mine, other = (f"config={1 << 31 | function << 8 | at:#x}" for at in (IDENTITY, COMMAND))
    commands = f"ticks=99 core=1,{other},{10**9} ticks=20 {mine},{ROUNDS}"
    sandboxes = (Sandbox("bystander", 0), Sandbox("pair", (1, 2), commands, access=(access,), beats=False))
    return Case("pci-selected-by-two", AT_ONCE, sandboxes, (Returned("pair", f"{mine},{ROUNDS}", 0),), platforms)


TWO_CORES = (
    displaced_while_enabled(),
    selected_by_two(EDU, "pciedu0", (SVM,)),
    selected_by_two(DISPLAY, "pcivga0", (VTX,)),
)

CASES = (*(replace(case, needs=DEVICES) for machine in MACHINES for case in cases(machine)), *ECAM_ONLY, *SHARED_PORTS, *TWO_CORES)
