# SPDX-License-Identifier: Apache-2.0
"""From a guest's addresses to the machine's: the guest's own tables on a PC, then the partition's map. Every walk has at most four steps.

Neither QEMU's debugger port nor a RAM file knows nested tables. Intel SDM vol. 3A, 4.3 "32-Bit Paging", 4.4 "PAE Paging", 4.5 "4-Level Paging".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from bhtool.config.plan import Region, SandboxPlan

PAGE = 0x1000
MEMORY = ("ram", "pool", "channel")  # kinds of regions that are no device's: reading them changes nothing
CR0_PG, CR4_PAE, CR4_PSE, EFER_LMA = 1 << 31, 1 << 5, 1 << 4, 1 << 10
PRESENT, LARGE = 1, 1 << 7
ADDRESS_BITS = (1 << 52) - PAGE
ReadGuest = Callable[[int, int], bytes | None]  # guest-physical address, bytes


@dataclass(frozen=True)
class Piece:
    """A stretch of machine memory behind a stretch of the guest's."""

    region: Region
    hpa: int
    size: int


def are_memory(where: Iterable[Piece]) -> bool:
    return all(piece.region.kind in MEMORY for piece in where)


def region_at(sandbox: SandboxPlan, gpa: int) -> Region | None:
    return next((one for one in sandbox.regions if one.gpa <= gpa < one.gpa + one.size), None)


def pieces(sandbox: SandboxPlan, gpa: int, size: int) -> list[Piece] | None:
    """Where the bytes lie, region by region. None: some are nobody's that the sandbox can reach."""
    found: list[Piece] = []
    while size:
        region = region_at(sandbox, gpa)
        if region is None:
            return None
        here = min(size, region.gpa + region.size - gpa)
        found.append(Piece(region, region.hpa + gpa - region.gpa, here))
        gpa, size = gpa + here, size - here
    return found


def pieces_behind(sandbox: SandboxPlan, hpa: int | None, size: int) -> list[Piece] | None:
    """The same for machine addresses, within a page. None: they are not this sandbox's."""
    region = next((one for one in sandbox.regions if hpa is not None and one.hpa <= hpa and hpa + size <= one.hpa + one.size), None)
    return None if region is None or hpa is None else [Piece(region, hpa, size)]


@dataclass(frozen=True)
class Paging:
    """How a walk goes: bits of the index at each level, from the root, and bytes of an entry."""

    indices: tuple[int, ...]
    entry: int
    large: tuple[bool, ...]  # whether an entry of that level may be a page


LONG = Paging((9, 9, 9, 9), 8, (False, True, True, False))
PAE = Paging((2, 9, 9), 8, (False, True, False))
LEGACY = Paging((10, 10), 4, (True, False))


def paging_of(controls: Mapping[str, int]) -> Paging | None:
    """None: addresses are guest-physical."""
    if not controls.get("cr0", 0) & CR0_PG:
        return None
    if controls.get("efer", 0) & EFER_LMA:
        return LONG
    return PAE if controls.get("cr4", 0) & CR4_PAE else LEGACY


def translate_x86(controls: Mapping[str, int], read: ReadGuest, address: int) -> int | None:
    """A linear address by the guest's tables; None: it has no page there."""
    paging = paging_of(controls)
    if paging is None:
        return address
    shift = 12 + sum(paging.indices)
    table = controls.get("cr3", 0) & (~0x1F if paging is PAE else ADDRESS_BITS) & (ADDRESS_BITS | 0xFE0)
    for bits, may_be_page in zip(paging.indices, paging.large, strict=True):
        shift -= bits
        entry_bytes = read(table + (address >> shift & (1 << bits) - 1) * paging.entry, paging.entry)
        entry = int.from_bytes(entry_bytes or b"", "little")
        if not entry & PRESENT:
            return None
        if shift == 12 or (may_be_page and entry & LARGE):
            return (entry & ADDRESS_BITS & ~((1 << shift) - 1)) | (address & (1 << shift) - 1)
        table = entry & ADDRESS_BITS
    return None


def by_pages(address: int, size: int) -> Iterator[tuple[int, int]]:
    """The stretch cut at page borders: what lies after each is another question."""
    while size:
        here = min(size, PAGE - address % PAGE)
        yield address, here
        address, size = address + here, size - here
