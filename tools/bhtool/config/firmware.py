# SPDX-License-Identifier: Apache-2.0
"""Memory that a PC's firmware lets devices use for ever, as the ACPI tables of its IOMMU name it: DMAR of VT-d (RMRR), IVRS of AMD-Vi (IVMD).

No monitor reads ACPI. The tables come from the machine, `acpidump -b` there, and are compared with what the board tree keeps.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bhtool.config.machine import Machine
from bhtool.config.span import Span
from bhtool.errors import BulkheadError

HEADER = struct.Struct("<4sI")  # signature, bytes: ACPI 6.3, 5.2.6 "System Description Table Header"
BLOCKS = 48  # where they begin in both tables
BLOCK = struct.Struct("<HH")  # type, for AMD-Vi with flags above it; bytes
# Intel VT-d specification, "Reserved Memory Region Reporting Structure" and "Device Scope Structure".
RMRR, RMRR_FIXED, SCOPE = 1, struct.Struct("<4xHHQQ"), struct.Struct("<BBHBB")
# AMD I/O Virtualization Technology specification, "I/O Virtualization Memory Definition (IVMD) Block": for all functions, one, a range.
IVMD_FIXED = struct.Struct("<4xHHQQQ")
IVMD_ALL, IVMD_ONE, IVMD_RANGE = 0x20, 0x21, 0x22
MOST = 1 << 20  # bytes of a table


@dataclass(frozen=True)
class Kept:
    span: Span
    functions: str


def read_tables(files: Iterable[Path]) -> list[Kept]:
    """Raises BulkheadError for what is no whole table of these two."""
    return [one for file in files for one in parse(file.name, _content(file))]


def _content(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MOST)
    except OSError as error:
        raise BulkheadError(f"{file} cannot be read: {error.strerror}") from error


def parse(name: str, table: bytes) -> list[Kept]:
    signature, length = HEADER.unpack_from(table) if len(table) >= HEADER.size else (b"", 0)
    if signature not in (b"DMAR", b"IVRS"):
        raise BulkheadError(f"{name} is neither a DMAR nor an IVRS table; `acpidump -b` on the machine writes them, dmar.dat or ivrs.dat")
    if not BLOCKS <= length == len(table) or sum(table) & 0xFF:
        raise BulkheadError(f"{name} is cut short or changed: its length or its checksum is wrong")
    reader = _rmrr if signature == b"DMAR" else _ivmd
    try:
        return [one for block in _blocks(table) for one in reader(block)]
    except (struct.error, ValueError) as error:
        raise BulkheadError(f"{name} is no table that firmware writes: {error}") from error


def _blocks(table: bytes) -> Iterator[bytes]:
    at = BLOCKS
    while at < len(table):
        size = BLOCK.unpack_from(table, at)[1]
        if size < BLOCK.size or at + size > len(table):
            raise ValueError(f"a structure at byte {at} claims {size} bytes")
        yield table[at : at + size]
        at += size


def _rmrr(block: bytes) -> Iterator[Kept]:
    if BLOCK.unpack_from(block)[0] != RMRR:
        return
    _, segment, base, limit = RMRR_FIXED.unpack_from(block)
    if limit < base:
        raise ValueError(f"a region ends at {limit:#x}, before it begins")
    names = ", ".join(_scopes(block[RMRR_FIXED.size :])) or "unnamed functions"
    yield Kept(Span(base, limit + 1 - base), f"{names} of segment {segment}" if segment else names)


def _scopes(data: bytes) -> Iterator[str]:
    """Behind bridges by the way there: buses below have numbers that firmware gives."""
    while data:
        _, size, _, _, bus = SCOPE.unpack_from(data)
        if size <= SCOPE.size or size > len(data) or size % 2:
            raise ValueError(f"a device scope claims {size} bytes")
        path = data[SCOPE.size : size]
        yield f"{bus:02x}:" + "/".join(f"{path[at]:02x}.{path[at + 1]}" for at in range(0, len(path), 2))
        data = data[size:]


def _ivmd(block: bytes) -> Iterator[Kept]:
    kind = block[0]
    if kind not in (IVMD_ALL, IVMD_ONE, IVMD_RANGE):
        return
    first, last, _, start, size = IVMD_FIXED.unpack_from(block)
    names = {IVMD_ALL: "every function", IVMD_ONE: _number(first), IVMD_RANGE: f"{_number(first)} to {_number(last)}"}
    yield Kept(Span(start, size), names[kind])


def _number(function: int) -> str:
    return f"{function >> 8:02x}:{function >> 3 & 31:02x}.{function & 7}"


def given_away(machine: Machine, kept: Iterable[Kept]) -> Iterator[tuple[Kept, Span]]:
    """Where the board tree has RAM to give that a device may use."""
    for one in kept:
        for ram in machine.ram:
            yield from ((one, span) for span in _without(ram.common(one.span), machine.reserved))


def _without(span: Span, others: Iterable[Span]) -> Iterator[Span]:
    """What is left of it, from its start on."""
    at = span.start
    for other in sorted((one for one in others if one.overlaps(span)), key=lambda one: one.start):
        if other.start > at:
            yield Span(at, other.start - at)
        at = max(at, other.end)
    if at < span.end:
        yield Span(at, span.end - at)


def require_kept(machine: Machine, board_name: str, files: Iterable[Path]) -> None:
    """Raises BulkheadError where a sandbox or a monitor may be given such memory."""
    told = [
        f"firmware lets {one.functions} use {one.span.start:#x}..{one.span.end - 1:#x} for ever, and the board tree gives"
        f" {span.start:#x}..{span.end - 1:#x} of it away"
        for one, span in given_away(machine, read_tables(files))
    ]
    if told:
        remedy = f"put it into `reserved` of the board tree, and into `BOARD_RESERVED_RAM` of platforms/{board_name}/board.h (BH-A31)"
        raise BulkheadError("\n".join(f"{text}; {remedy}" for text in told))
