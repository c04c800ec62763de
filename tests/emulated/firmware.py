# SPDX-License-Identifier: Apache-2.0
"""Devices as firmware leaves them, before the first instruction, and as start-up has left them: through the debugger's port of a QEMU machine.

On a PC SeaBIOS runs besides, so PCI functions decode, and some master the bus, without our doing; QEMU's ARM machines have no firmware.
GDB manual, Appendix E "Remote Serial Protocol"; QEMU's "GDB usage", "Examining physical memory".
"""

import re
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError
from bhtool.oracle.debugger import PACKET, Debugger
from bhtool.platforms import Platform

from tests.emulated.case import GICV3
from tests.emulated.cases_pci import ECAM_ARM, ECAM_PC

START_SECONDS = 20.0
FUNCTIONS = 256
COMMAND, CLASS, HEADER = 0x04, 0x08, 0x0C  # PCI Local Bus 3.0, 6.1 "Configuration Space Organization"
DECODE, MASTER = 3, 4
BRIDGE = 6  # base class; with header type 0 the board itself
IOMMU = 0x0806  # base and sub-class: PCI Code and ID Assignment Specification, "System Peripherals"
IOAPIC, WINDOW, FIRST_PIN = 0xFEC00000, 0xFEC00010, 0x10  # Intel 82093AA data sheet, 3.1, 3.2.4
OPEN_PINS = (*range(3, 8), *range(9, 24))  # not the timers', which tick while the firmware runs
VECTOR = 0x40
MASKED = 1 << 16
# IHI 0069, 12.11 "GICR_CTLR", 12.19 "GITS_CTLR": EnableLPIs, Enabled. QEMU's `virt`: the translation service, the redistributors of four cores.
TABLES_ON = 1
WITH_TABLES = (0x08080000, *range(0x080A0000, 0x08120000, 0x20000))
ALL_LINES = 0xFF


@dataclass(frozen=True)
class Devices:
    """Command registers of PCI functions, by number: the board's own bridges with its IOMMU, and all others. A PC's: low words of I/O APIC pins, PIC masks.
    A GICv3's: control registers of what has tables in memory, by address."""

    bridges: dict[int, int]
    commands: dict[int, int]
    pins: dict[int, int]
    pic_masks: dict[int, int]
    tables: dict[int, int]

    def noise(self, plan: Plan) -> list[str]:
        """What is neither off nor anybody's, and what of the board is off."""
        functions = {function.id for one in plan.sandboxes for function in one.functions}
        pins = {line.line for one in plan.sandboxes for line in one.lines}
        loud = {number for number, command in self.commands.items() if command & (MASTER if number in functions else MASTER | DECODE)}
        return [
            *(f"PCI function {number:#x} has command {self.commands[number]:#x}" for number in sorted(loud)),
            *(f"bridge {number:#x} has command {command:#x}" for number, command in self.bridges.items() if not command & DECODE),
            *(f"pin {pin} of the I/O APIC is open: {word:#x}" for pin, word in self.pins.items() if not word & MASKED and pin not in pins),
            *(f"the GIC's tables are in use by {at:#x}: {word:#x}" for at, word in self.tables.items() if word & TABLES_ON),
            *(f"PIC {n} has mask {mask:#x}" for n, mask in sorted(self.pic_masks.items()) if mask != ALL_LINES),
        ]


class Port(Debugger):
    """Reads and writes physical memory, devices' too."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        assert self.ask("Qqemu.PhyMemMode:1") == b"OK"

    def read_word(self, address: int) -> int:
        return int.from_bytes(bytes.fromhex(self.ask(f"m{address:x},4").decode()), "little")

    def write_word(self, address: int, value: int) -> None:
        assert self.ask(f"M{address:x},4:{value.to_bytes(4, 'little').hex()}") == b"OK"

    def resume(self) -> None:
        assert self.ask("D") == b"OK"

    def monitor(self, command: str) -> str:
        """What QEMU's own monitor says to it: "O" packets, then "OK"."""
        data = f"qRcmd,{command.encode().hex()}".encode()
        self._line.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))
        answer = b""
        while (packets := PACKET.findall(answer))[-1:] != [b"OK"]:
            if not (more := self._line.recv(65536)):
                raise BulkheadError("the machine ended while its monitor was asked")
            answer += more
        return b"".join(bytes.fromhex(one[1:].decode()) for one in packets[:-1]).decode()


def connect(path: Path) -> Port:
    """The emulator may have yet to make it."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return Port(path)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def is_pc(platform: Platform) -> bool:
    return platform.arch == "x86_64"


def functions_of(port: Port, ecam: int) -> Iterator[tuple[int, int]]:
    """Number and place of registers of each that is there."""
    for number in range(FUNCTIONS):
        page = ecam + (number << 12)
        if port.read_word(page) & 0xFFFF != 0xFFFF:
            yield number, page


def is_board(port: Port, page: int) -> bool:
    class_ = port.read_word(page + CLASS)
    return class_ >> 16 == IOMMU or (class_ >> 24 == BRIDGE and not port.read_word(page + HEADER) >> 16 & 0x7F)


def read_commands(port: Port, ecam: int) -> tuple[dict[int, int], dict[int, int]]:
    """The board's, and the others'."""
    bridges: dict[int, int] = {}
    others: dict[int, int] = {}
    for number, page in functions_of(port, ecam):
        found = bridges if is_board(port, page) else others
        found[number] = port.read_word(page + COMMAND) & 0xFFFF
    return bridges, others


def read_pins(port: Port) -> dict[int, int]:
    found = {}
    for pin in range(24):
        port.write_word(IOAPIC, FIRST_PIN + 2 * pin)
        found[pin] = port.read_word(WINDOW)
    return found


def leave(platform: Platform, path: Path) -> None:
    """A machine that stands still before its first instruction is spoilt, then runs. QEMU's PC shows no ECAM before SeaBIOS has run."""
    with closing(connect(path)) as port:
        if is_pc(platform):
            for pin in OPEN_PINS:
                port.write_word(IOAPIC, FIRST_PIN + 2 * pin)
                port.write_word(WINDOW, VECTOR + pin)
        else:
            for _, page in functions_of(port, ECAM_ARM):
                port.write_word(page + COMMAND, DECODE | MASTER)
        if platform.name == GICV3:
            for at in WITH_TABLES:
                port.write_word(at, TABLES_ON)
                assert port.read_word(at) & TABLES_ON, f"{at:#x} cannot be switched on"
        port.resume()


def look(platform: Platform, path: Path) -> Devices:
    """The machine stands still from here."""
    with closing(connect(path)) as port:
        ecam = ECAM_PC if is_pc(platform) else ECAM_ARM
        commands = read_commands(port, ecam)
        if not is_pc(platform):
            tables = {at: port.read_word(at) for at in WITH_TABLES} if platform.name == GICV3 else {}
            return Devices(*commands, {}, {}, tables)
        masks = re.findall(r"pic(\d): .*?imr=(\w+)", port.monitor("info pic"))
        return Devices(*commands, read_pins(port), {int(number): int(mask, 16) for number, mask in masks}, {})
