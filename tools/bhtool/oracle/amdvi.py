# SPDX-License-Identifier: Apache-2.0
"""AMD-Vi: a device table in memory. AMD I/O Virtualization Technology (IOMMU) Specification, 48882, 2.2.2 "Device Table", 2.2.3 "I/O Page Tables
for Host Translations", 2.2.5 "Interrupt Remapping Tables", 3.4 "IOMMU MMIO Registers".
"""

from __future__ import annotations

from dataclasses import dataclass

from bhtool.config.span import Span
from bhtool.oracle.iommu import FIXED_TYPE, STREAMS, IommuLook, Message, Opened, Registers, Told
from bhtool.oracle.snapshot import FRAME, Snapshot
from bhtool.oracle.walk import Entry, Root, address_bits, bits, strange

DEVICE_TABLE, COMMANDS, CONTROL, EXCLUSION = 0x00, 0x08, 0x18, 0x20
ENABLE, GUEST_IRTES = bits(0), bits(28)  # of CONTROL
EXCLUDES = bits(0)
FRAMES = bits(51, 12)
ENTRY = 32  # bytes
IO_APIC = 0xA0  # of chipsets, and of QEMU's
COMMAND_BYTES = FRAME  # at the least

# Word 0 of an entry.
VALID, TRANSLATED = bits(0), bits(1)
MODE_SHIFT, MODE = 9, 7
READ, WRITE = bits(61), bits(62)
GUEST = {52: "PPR", 53: "GPRP", 54: "GIoV", 55: "GV"}
# Word 1.
DOMAIN = bits(15, 0)
OPEN_1 = {32: "I (it may cache translations)", 39: "EX (an exclusion range)"}
IO_CONTROL_SHIFT, SYSTEM_SHIFT = 35, 40  # of two bits each; 0: aborts
# Word 2.
INTERRUPTS_VALID, LENGTH_SHIFT, LENGTH = bits(0), 1, 0xF
INTERRUPT_TABLE = bits(51, 6)
PASSES = {56: "INIT", 57: "external interrupts", 58: "NMI", 62: "LINT0", 63: "LINT1"}
CONTROL_SHIFT, REMAPPED = 60, 2
INDICES = 1 << 11  # that data of a message can name; QEMU's model does not look how long the table is

LARGEST_LEAF = 2  # 1 GiB
MARK = bits(1)  # of 4:1, which the IOMMU ignores: software may tell tables by it


@dataclass(frozen=True)
class HostTables:
    name: str = "AMD-Vi host tables"

    def decode(self, word: int, level: int) -> Entry:
        """Bits 11:9 say of which level the table is that it leads to: 0 a leaf, 7 a leaf of another size, which nobody uses here."""
        if not word & VALID:
            return Entry("hole", odd=strange(word, 0))  # QEMU's takes such an entry for one that is present
        access, following = ("r" if word & READ else "") + ("w" if word & WRITE else ""), word >> MODE_SHIFT & MODE
        known = VALID | READ | WRITE | bits(6, 5) | MODE << MODE_SHIFT
        if following and following != 7:
            odd: tuple[str, ...] = (
                () if following == level else (f"entry {word:#x} leads to a table of level {following}, in one of level {level + 1}",)
            )
            return Entry("hole" if odd else "table", word & FRAMES, access, odd=odd + strange(word, known | FRAMES | MARK))
        address = address_bits(level, 51)
        odd = (f"entry {word:#x} is a leaf of another size",) if following else ()
        odd += (f"entry {word:#x} is a leaf where none may be",) if level > LARGEST_LEAF else ()
        return Entry("leaf", word & address, access, "ram", odd + strange(word, known | address | bits(60)))


def read_amdvi(snapshot: Snapshot, registers: Registers) -> Told:
    told = Told()
    if not registers[CONTROL] & ENABLE:
        told.wrong.append((None, "it is off, and lets everything pass (IommuEn)"))
        return told
    if registers[EXCLUSION] & EXCLUDES:
        told.wrong.append((None, "a stretch of memory is excluded from translation (ExEn)"))
    table = Span(registers[DEVICE_TABLE] & FRAMES, (registers[DEVICE_TABLE] & 0x1FF) + 1 << 12)
    commands = Span(registers[COMMANDS] & FRAMES, COMMAND_BYTES)
    told.tables = [("device table", table), ("queue of commands", commands)]
    if table.size < STREAMS * ENTRY or not snapshot.holds(table.start, table.size):
        told.wrong.append((None, f"its device table {table} is not in RAM, or has not an entry for each stream"))
        return told
    is_wide = bool(registers[CONTROL] & GUEST_IRTES)
    for frame in range(table.start, table.end, FRAME):
        words = snapshot.words(frame)
        for n in range(FRAME // ENTRY):
            _read_entry(snapshot, told, (frame - table.start) // ENTRY + n, words[4 * n : 4 * n + 4], is_wide)
    return told


def _read_entry(snapshot: Snapshot, told: Told, stream: int, words: tuple[int, ...], is_wide: bool) -> None:
    """Of an entry that is not valid everything passes; with TV clear, requests abort; without levels they go through, as IR and IW allow."""
    first, second = words[0], words[1]
    access = ("r" if first & READ else "") + ("w" if first & WRITE else "")
    if not first & VALID:
        told.streams[stream] = Opened(None)
    elif first & TRANSLATED and access:
        levels = first >> MODE_SHIFT & MODE
        told.streams[stream] = Opened(Root(HostTables(), first & FRAMES, levels) if levels else None, access, second & DOMAIN)
    odd = [name for bit, name in GUEST.items() if first >> bit & 1] + [name for bit, name in OPEN_1.items() if second >> bit & 1]
    odd += [f"{name} (passes)" for bit, name in PASSES.items() if words[2] >> bit & 1]
    odd += [name for name, shift in (("IoCtl", IO_CONTROL_SHIFT), ("SysMgt", SYSTEM_SHIFT)) if second >> shift & 3]
    told.wrong += [(stream, f"its entry has {name}") for name in odd]
    _read_interrupts(snapshot, told, stream, words[2], is_wide)


def _read_interrupts(snapshot: Snapshot, told: Told, stream: int, word: int, is_wide: bool) -> None:
    if not word & INTERRUPTS_VALID:
        told.wrong.append((stream, "its interrupts pass as they are (IV)"))
        return
    control = word >> CONTROL_SHIFT & 3
    if control != REMAPPED:
        told.wrong += [(stream, f"its interrupts pass as they are (IntCtl {control})")] if control else []
        return
    size = 16 if is_wide else 4
    table = Span(word & INTERRUPT_TABLE, size << (word >> LENGTH_SHIFT & LENGTH))
    reached = Span(table.start, max(table.size, size * INDICES))
    if not snapshot.holds(reached.start, reached.size) or table.start % FRAME:
        told.wrong.append((stream, f"its interrupt table {table} is not in RAM, or not at a page"))
        return
    told.of_streams.append((stream, reached))
    for index in range(reached.size // size):
        at = table.start + index * size
        low = snapshot.word(at) if is_wide else snapshot.half(at)
        if not low & 1:
            continue
        vector = snapshot.word(at + 8) & 0xFF if is_wide else low >> 16 & 0xFF
        destination = (low >> 8 & 0xFFFFFF | (snapshot.word(at + 8) >> 56 << 24)) if is_wide else low >> 8 & 0xFF
        if low >> 2 & 7 != FIXED_TYPE or low >> 6 & 1 or (is_wide and low >> 7 & 1):
            told.wrong.append((stream, f"its interrupt {index:#x} is not fixed to one core by its APIC ID (entry {low:#x})"))
        told.messages.append(Message(stream, index, destination, vector))


AMDVI = IommuLook(read_amdvi, ((DEVICE_TABLE, 8), (COMMANDS, 8), (CONTROL, 8), (EXCLUSION, 8)), IO_APIC)
