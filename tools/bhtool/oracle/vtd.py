# SPDX-License-Identifier: Apache-2.0
"""VT-d in legacy mode: a root table, context tables, and one table of interrupts. Intel Virtualization Technology for Directed I/O, D51397:
3.4 "Legacy Mode Address Translation", 9.1 "Root Entry", 9.3 "Context Entry", 9.8 "Second-Stage Paging Entries", 9.10 "Interrupt Remapping Table
Entry (IRTE) for Remapped Interrupts", 11.4 "Register Descriptions".
"""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.config.span import Span
from bhtool.oracle.iommu import FIXED_TYPE, IommuLook, Message, Opened, Registers, Told
from bhtool.oracle.snapshot import FRAME, Snapshot
from bhtool.oracle.walk import Entry, Root, address_bits, bits, strange

STATUS, ROOT_TABLE, QUEUE, INTERRUPTS = 0x1C, 0x20, 0x90, 0xB8
TRANSLATES, REMAPS, COMPATIBLE = bits(31), bits(25), bits(23)  # of STATUS
MODE = bits(11, 10)  # of ROOT_TABLE; 0: legacy
X2APIC = bits(11)  # of INTERRUPTS
FRAMES = bits(51, 12)
PRESENT = bits(0)
BUSES, FUNCTIONS, ENTRY = 256, 256, 16  # bytes
IO_APIC = 0xFF00  # of QEMU's: bus 0xff, function 0

TYPE_SHIFT, TYPE, SECOND_STAGE = 2, 3, 0
LEVELS = {1: 3, 2: 4}  # by bits 2:0 of the second word, AW
DOMAIN_SHIFT, DOMAIN = 8, 0xFFFF

READ, WRITE, LARGE, SNOOP = bits(0), bits(1), bits(7), bits(11)
LARGEST_LEAF = 2  # 1 GiB

# Of an interrupt's entry.
LOGICAL, HINTED, MODE_OF_DELIVERY, POSTED = bits(2), bits(3), 5, bits(15)
SOURCE, VERIFIED_SHIFT, VERIFIED, BY_SOURCE = bits(15, 0), 16, 0xF, 0b0100  # SQ and SVT: all bits of the source are compared


@dataclass(frozen=True)
class SecondStage:
    name: str = "VT-d second stage"

    def decode(self, word: int, level: int) -> Entry:
        access = ("r" if word & READ else "") + ("w" if word & WRITE else "")
        if not access:
            return Entry("hole", odd=strange(word, 0))
        if level and not word & LARGE:
            return Entry("table", word & FRAMES, access, odd=strange(word, READ | WRITE | FRAMES))
        odd: tuple[str, ...] = (f"entry {word:#x} is a leaf where none may be",) if level > LARGEST_LEAF else ()
        address = address_bits(level, 51)
        known = READ | WRITE | SNOOP | address | (LARGE if level else 0)
        return Entry("leaf", word & address, access, "ram", odd + strange(word, known))


def read_vtd(snapshot: Snapshot, registers: Registers) -> Told:
    told, status, root = Told(), registers[STATUS], registers[ROOT_TABLE]
    if not status & REMAPS or status & COMPATIBLE:
        told.wrong.append((None, "interrupts pass as they are (IRES, CFIS)"))
    else:
        _read_interrupts(snapshot, told, registers[INTERRUPTS])
    if not status & TRANSLATES:
        told.wrong.append((None, "it is off, and lets everything pass (TES)"))
        return told
    if root & MODE:
        told.wrong.append((None, f"its root table has mode {root >> 10 & 3}, which is not the legacy one"))
        return told
    buses = Span(root & FRAMES, BUSES * ENTRY)
    told.tables.append(("root table", buses))
    if not snapshot.holds(buses.start, buses.size):
        told.wrong.append((None, f"its root table {buses} is not in RAM"))
        return told
    for bus in range(BUSES):
        word = snapshot.word(buses.start + bus * ENTRY)
        if word & PRESENT:
            _read_bus(snapshot, told, bus, word & FRAMES)
    queue = Span(registers[QUEUE] & FRAMES, FRAME << (registers[QUEUE] & 7))
    told.tables.append(("queue of commands", queue))
    told.shown = [span for name, span in told.tables if name in ("context table", "queue of commands")]
    told.shown.append(Span(queue.end, FRAME))  # what a wait stores
    return told


def _read_bus(snapshot: Snapshot, told: Told, bus: int, start: int) -> None:
    table = Span(start, FUNCTIONS * ENTRY)
    if table not in [span for _, span in told.tables]:
        told.tables.append(("context table", table))
    if not snapshot.holds(table.start, table.size):
        told.wrong.append((None, f"the context table of bus {bus} is not in RAM"))
        return
    words = snapshot.words(start)
    for n in range(FUNCTIONS):
        first, second, stream = words[2 * n], words[2 * n + 1], bus << 8 | n
        if not first & PRESENT:
            continue
        kind, levels = first >> TYPE_SHIFT & TYPE, LEVELS.get(second & 7, 0)
        if kind != SECOND_STAGE:
            told.wrong.append((stream, f"its context entry has translation type {kind}: it may pass, or bring addresses of its own"))
        if not levels:
            told.wrong.append((stream, f"its context entry has address width {second & 7}, which nobody uses"))
        is_led = kind == SECOND_STAGE and levels
        told.streams[stream] = Opened(Root(SecondStage(), first & FRAMES, levels) if is_led else None, tag=second >> DOMAIN_SHIFT & DOMAIN)


def _read_interrupts(snapshot: Snapshot, told: Told, register: int) -> None:
    table = Span(register & FRAMES, ENTRY << (register & 0xF) + 1)
    told.tables.append(("table of interrupts", table))
    if not snapshot.holds(table.start, table.size):
        told.wrong.append((None, f"its table of interrupts {table} is not in RAM"))
        return
    for index in range(table.size // ENTRY):
        low, high = (snapshot.word(table.start + index * ENTRY + 8 * n) for n in range(2))
        if not low & PRESENT:
            continue
        stream = high & SOURCE
        if low & (LOGICAL | POSTED | HINTED) or low >> MODE_OF_DELIVERY & 7 != FIXED_TYPE:
            told.wrong.append((stream, f"its interrupt {index:#x} is not fixed to one core by its APIC ID (entry {low:#x})"))
        if high >> VERIFIED_SHIFT & VERIFIED != BY_SOURCE:
            told.wrong.append((stream, f"its interrupt {index:#x} may be sent by others (SVT, SQ)"))
        destination = low >> 32 if register & X2APIC else low >> 40 & 0xFF
        told.messages.append(Message(stream, index, destination, low >> 16 & 0xFF))


VTD = IommuLook(read_vtd, ((STATUS, 4), (ROOT_TABLE, 8), (QUEUE, 8), (INTERRUPTS, 8)), IO_APIC)
