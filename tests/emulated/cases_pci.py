# SPDX-License-Identifier: Apache-2.0
"""BH-I1.device. PCI functions: what a sandbox reads of others, and what it may write to its own. The same on every machine.

The attacker owns an edu device, the victim a serial card and a test device. Configuration registers are read and written
through ECAM on ARM, through ports 0xCF8 and 0xCFC on a PC.
"""

from dataclasses import dataclass, replace

from tests.emulated.case import ARM, SVM, VTX, Case, Sandbox
from tests.emulated.expect import Expectation, NoExits, Parked, Returned

ECAM_ARM, ECAM_PC = 0x3F000000, 0xB0000000
HOST, SERIAL, EDU, TEST, EMPTY = 0, 2, 3, 4, 9  # devices on bus 0 of QEMU's machines
DISPLAY = 2  # on Bochs'
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

    def peek(self, device: int, register: int) -> str:
        if self.ports:
            return f"out32=3320,{1 << 31 | device << 11 | register:#x} in32=3324"
        return f"read={self.ecam + (device << 15) + register:#x}"

    def poke(self, device: int, register: int, value: int) -> str:
        if self.ports:
            return f"out32=3320,{1 << 31 | device << 11 | register:#x} out32=3324,{value:#x}"  # 0xCF8, 0xCFC: arguments are short
        return f"write={self.ecam + (device << 15) + register:#x},{value:#x}"

    def reads(self, who: str, device: int, register: int, value: int) -> Returned:
        """The last such read."""
        return Returned(who, self.peek(device, register).split()[-1], value)


MACHINES = (
    Machine(ARM, 0x2E000000, 0x2E100000, ECAM_ARM, ports=False),
    Machine((SVM,), 0xC0000000, 0xC0100000, ECAM_PC, ports=True),
)


def company(attacker: str, victim: str = "") -> tuple[Sandbox, ...]:
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
        return Case(name, guards, company(words), (m.reads("attacker", EDU, register, value),), m.platforms, quick=quick)

    def sees(name: str, guards: str, device: int, value: int, quick: bool = False) -> Case:
        found = m.reads("attacker", device, IDENTITY, value)
        return Case(name, guards, company(m.peek(device, IDENTITY)), (found,), m.platforms, quick=quick)

    def harms_not(name: str, guards: str, poke: tuple[int, int], register: int, value: int) -> Case:
        """The attacker writes to the victim's serial card, which the victim then finds as it was."""
        found: tuple[Expectation, ...] = (m.reads("victim", SERIAL, register, value),)
        return Case(name, guards, company(m.poke(SERIAL, *poke), m.peek(SERIAL, register)), found, m.platforms)

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
            company(f"read={m.test:#x}"),
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
        writes("pci-interrupt-note", "the line register is a note for software", ((LINE, 0x5A),), LINE, 0x15A),
    )


ECAM_ONLY = (
    Case(
        "pci-enumeration-exitless",
        "BH-I2.exitless: configuration registers are read without an exit",
        company(" ".join(f"read={ECAM_ARM + (device << 15):#x}" for device in range(6))),
        (Returned("attacker", f"read={ECAM_ARM + (5 << 15):#x}", ONES), NoExits("attacker", besides=("idle",))),
        ARM,
    ),
    Case(
        "pci-next-bus",
        "only buses that exist are shown",
        company(f"read={ECAM_ARM + 0x100000:#x}"),
        (Parked("attacker", "memory", "read", f"{ECAM_ARM + 0x100000:#x}"),),
        ARM,
    ),
    Case(
        "pci-write-undescribed",
        "a write the syndrome does not describe parks",
        company(f"locked={ECAM_ARM + (EDU << 15) + COMMAND:#x}"),
        (Parked("attacker", "memory", " ", f"{ECAM_ARM + (EDU << 15) + COMMAND:#x}"),),
        ARM,
    ),
)

PORTS = Machine((VTX,), 0, 0, 0, ports=True)


def behind_ports(name: str, guards: str, pokes: tuple[tuple[int, int], ...], device: int, register: int, value: int) -> Case:
    """Bochs has no ECAM: all functions are behind one pair of ports. Its display's memory stays where it is: it decodes for ever."""
    words = " ".join([*(PORTS.poke(DISPLAY, at, text) for at, text in pokes), PORTS.peek(device, register)])
    sandboxes = (Sandbox("bystander", 0), Sandbox("attacker", 1, f"ticks=99 {words}", access=("pcivga0",), beats=False))
    return Case(name, guards, sandboxes, (PORTS.reads("attacker", device, register, value),), PORTS.platforms)


SHARED_PORTS = (
    behind_ports("pci-ports-own-function", "own functions show their registers", (), DISPLAY, IDENTITY, 0x11111234),
    behind_ports("pci-ports-host-bridge", "of functions that are not its own a sandbox reads ones", (), HOST, IDENTITY, ONES),
    behind_ports(
        "pci-ports-move", "a function answers at its granted addresses", ((COMMAND, 0), (BAR0, 0xE8000000)), DISPLAY, BAR0, 0xE0000008
    ),
)

CASES = (*(replace(case, needs=DEVICES) for machine in MACHINES for case in cases(machine)), *ECAM_ONLY, *SHARED_PORTS)
