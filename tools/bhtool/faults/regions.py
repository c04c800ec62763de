# SPDX-License-Identifier: Apache-2.0
"""What of a victim can be hit, and where it lies: from the plan, the linked programs, and the tables that the oracle finds in a snapshot.

Nothing is taken from the monitor's own records. Its private copy is told from the rest of its pool by comparing frames with the linked image.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bhtool import abi, elf
from bhtool.config.span import Span
from bhtool.families.family import Registers
from bhtool.families.table import FAMILIES
from bhtool.faults.fault import WORD, Region
from bhtool.faults.stage import Stage
from bhtool.image.build import MONITOR
from bhtool.oracle.capture import look_of
from bhtool.oracle.confinement import Confinement
from bhtool.oracle.snapshot import FRAME, FRAME_WORDS, Snapshot
from bhtool.oracle.walk import walk

PF_W = 2  # of an ELF segment: writable
POOL_ARENA, POOL_LOG, POOL_CRASH = int(abi.lib.BH_POOL_ARENA), int(abi.lib.BH_POOL_LOG), int(abi.lib.BH_POOL_CRASH)
MAILBOX_BYTES = 64  # one cache line a core


def frames(span: Span) -> range:
    return range(span.start, span.end, FRAME)


TAKEN_BYTES = 1 << 18  # from the end of the kernel's image on


def words(spans: Iterable[Span]) -> tuple[int, ...]:
    return tuple(address for span in spans for address in range(span.start, span.end, WORD))


def region(snapshot: Snapshot, name: str, spans: Iterable[Span], *, is_guests: bool = False, is_judged: bool = False) -> Region:
    found = words(spans)
    return Region(name, found, tuple(one for one in found if snapshot.word(one)), is_guests=is_guests, is_judged=is_judged)


def whole(pages: Iterable[int]) -> list[Span]:
    return [Span(page, FRAME) for page in sorted(set(pages))]


def read_regions(stage: Stage, snapshot: Snapshot, symbols: Mapping[str, int], has_registers: bool) -> list[Region]:
    """Those that the platform has. `symbols`: of the sandbox kernel."""
    found = [*_guest(stage, snapshot, symbols), *_monitor(stage, snapshot), *_shared(stage, snapshot)]
    if has_registers:
        names = FAMILIES[stage.platform.arch].registers
        found.append(Region("guest registers", registers=tuple(_bits(names)), is_guests=True))
        found.append(Region("monitor registers", registers=tuple(_bits(names)), in_monitor=True))
    return [one for one in found if one.words or one.registers]


def _bits(names: Registers) -> Iterator[tuple[str, int]]:
    return ((name, 8 * size) for name, size in names.packet)


# ---- the victim's own memory ----


def _guest(stage: Stage, snapshot: Snapshot, symbols: Mapping[str, int]) -> Iterator[Region]:
    """RAM by what the kernel linked there; what is left holds stacks and the pattern that it checks."""
    victim = stage.victim

    def at(first: str, last: str) -> Span:
        return Span(victim.ram_hpa + symbols[first] - victim.ram_gpa, symbols[last] - symbols[first])

    text, data = at("text_start", "text_end"), at("rodata_end", "image_end")
    taken = Span(data.end, TAKEN_BYTES)  # the kernel takes the lowest frames first, tables among them
    tables = [
        page for page in frames(Span(data.start, data.size + taken.size)) if _is_table(snapshot, page, victim.ram_gpa, victim.ram_size)
    ]
    rest = [
        page
        for ram in victim.ram
        for page in frames(Span(ram.hpa, ram.size))
        if not data.start <= page < data.end and not text.start <= page < text.end and page not in tables
    ]
    yield region(snapshot, "guest text", [text], is_guests=True)
    yield region(snapshot, "guest data", whole(set(frames(data)) - set(tables)), is_guests=True)
    yield region(snapshot, "guest page tables", whole(tables), is_guests=True)
    yield region(snapshot, "guest memory", whole(rest), is_guests=True)


def _is_table(snapshot: Snapshot, page: int, start: int, size: int) -> bool:
    """A frame of the kernel's whose words are entries: valid ones, most of them with an address of the kernel's or a device's own page."""
    filled = [word for word in snapshot.words(page) if word]
    return bool(filled) and all(word & 1 for word in filled) and any(start <= word & 0x0000FFFFFFFFF000 < start + size for word in filled)


# ---- its monitor ----


def image_frames(file: bytes) -> list[bytes]:
    """Contents of the frames of the linked monitor that nobody writes."""
    form = elf.form_of(file)
    assert form
    programs = elf.read_programs(form, elf.read_header(form, file), file) or []
    parts = [file[one.offset : one.offset + one.file_bytes] for one in programs if one.type == elf.PT_LOAD and not one.flags & PF_W]
    return [part[at : at + FRAME].ljust(FRAME, b"\0") for part in parts for at in range(0, len(part), FRAME)]


def resembles(frame: Sequence[int], linked: Sequence[int]) -> bool:
    """Whether most words that are something are the same: on a PC the code of one vendor is left out."""
    filled = [(one, other) for one, other in zip(frame, linked, strict=True) if one]
    return bool(filled) and sum(one == other for one, other in filled) > len(filled) / 2


def confinement_of(stage: Stage, snapshot: Snapshot) -> Confinement:
    victim = stage.victim
    return look_of(stage.platform).read(snapshot, Span(victim.pool_hpa, victim.pool_size), tuple(victim.cores))


def _monitor(stage: Stage, snapshot: Snapshot) -> Iterator[Region]:
    victim, confinement = stage.victim, confinement_of(stage, snapshot)
    resident = [FRAME_WORDS.unpack(one) for one in image_frames((stage.platform.build / MONITOR).read_bytes())]
    copies = {page: snapshot.words(page) for page in frames(Span(victim.pool_hpa + POOL_ARENA, victim.pool_size - POOL_ARENA))}
    text = {page for page, content in copies.items() if any(resembles(content, linked) for linked in resident)}
    stage2 = set(walk(snapshot, confinement.root).tables) if confinement.root else set()
    tables = set(walk(snapshot, confinement.monitor).tables) if confinement.monitor else set()
    control = {page & -FRAME for page in confinement.frames}
    maps = {*confinement.maps.ports, *confinement.maps.registers} if confinement.maps else set()
    named = text | stage2 | tables | control | maps
    data = {page for page, content in copies.items() if page not in named and any(content)}
    yield region(snapshot, "monitor text", whole(text))
    yield region(snapshot, "monitor data", whole(data))
    yield region(snapshot, "monitor page tables", whole(tables), is_judged=True)
    yield region(snapshot, "stage 2", whole(stage2), is_judged=True)
    yield region(snapshot, "control blocks", whole(control), is_judged=True)
    yield region(snapshot, "permission maps", whole(maps), is_judged=True)


def _shared(stage: Stage, snapshot: Snapshot) -> Iterator[Region]:
    victim = stage.victim
    cores = sum(len(one.cores) for one in stage.plan.sandboxes)
    pages = [Span(victim.pool_hpa, POOL_LOG), Span(victim.pool_hpa + POOL_CRASH, FRAME)]
    yield region(snapshot, "statistics and records", pages)
    yield region(snapshot, "log ring", [Span(victim.pool_hpa + POOL_LOG, POOL_CRASH - POOL_LOG)], is_guests=True)
    yield region(snapshot, "kick mailboxes", [Span(stage.plan.shared_hpa, cores * MAILBOX_BYTES)])
    yield region(snapshot, "boot snapshot", [Span(victim.snapshot_hpa, victim.snapshot_size)])
