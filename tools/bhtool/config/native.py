# SPDX-License-Identifier: Apache-2.0
"""Native sandboxes: any statically linked ELF that follows the entry contract of abi/guest.h, loaded by physical address."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise

from bhtool import elf as files
from bhtool.abi import lib
from bhtool.config.flat import PROPERTY, flat_piece
from bhtool.config.grants import WINDOW_INFO
from bhtool.config.kinds import looks_like
from bhtool.config.payload import OVERLAP, Payload, PayloadError, Piece, Room
from bhtool.config.x86_entry import ENTRY_AREA, STACK, entry_pieces
from bhtool.families.table import FAMILIES

NOT_ELF, WRONG_MACHINE, OUTSIDE_RAM, WRONG_CONTRACT = "BH-R061", "BH-R062", "BH-R063", "BH-R066"
# Multiboot 1, "OS image format": within so many bytes, at a multiple of four, magic and flags, which add up to 0 with what follows them;
# Multiboot 2 has two words more.
MULTIBOOT = ((0x1BADB002, 8192, 3), (0xE85250D6, 32768, 4))
CONTRACT_BYTES = 4
SEGMENTS = 64  # loadable ones of an executable; linkers make four


KINDS = {
    3: "a 32-bit x86",
    8: "a MIPS",
    20: "a 32-bit PowerPC",
    21: "a 64-bit PowerPC",
    22: "an s390",
    40: "a 32-bit ARM",
    62: "an x86-64",
    183: "an AArch64",
    243: "a RISC-V",
    258: "a LoongArch",
}


def _kind(machine: int) -> str:
    return KINDS.get(machine, f"a foreign (machine {machine})")


@dataclass(frozen=True)
class Elf:
    machine: int
    entry: int
    loads: list[tuple[int, memoryview, int]]  # physical address, bytes in the file, size in memory
    contract: int | None  # the version of abi/guest.h that it says it was built for


def read_elf(data: bytes, name: str) -> Elf:
    """The loadable part of a little-endian executable. Raises PayloadError."""
    form = files.form_of(data)
    if form is None:
        raise PayloadError(NOT_ELF, f"`{name}` is not a little-endian ELF file: {looks_like(data)}")
    header = files.read_header(form, data)
    programs = files.read_programs(form, header, data)
    if header.type != files.ET_EXEC or programs is None:
        raise PayloadError(NOT_ELF, f"`{name}` is not a statically linked, complete executable")
    loadable = [one for one in programs if one.type == files.PT_LOAD and one.memory_bytes]
    if len(loadable) > SEGMENTS:
        raise PayloadError(NOT_ELF, f"`{name}` has {len(loadable)} loadable segments, {SEGMENTS} at most can be loaded")
    if any(one.offset + one.file_bytes > len(data) or one.memory_bytes < one.file_bytes for one in loadable):
        raise PayloadError(NOT_ELF, f"`{name}` is cut short")
    loads = [(one.physical, memoryview(data)[one.offset : one.offset + one.file_bytes], one.memory_bytes) for one in loadable]
    return Elf(header.machine, header.entry, loads, contract_of(data, programs))


def contract_of(data: bytes, programs: list[files.Program]) -> int | None:
    said = files.note(data, programs, b"Bulkhead\0", lib.BH_NOTE_CONTRACT)
    return int.from_bytes(said, "little") if said and len(said) == CONTRACT_BYTES else None


def _refuse_contract(elf: Elf, name: str) -> None:
    """Images that say nothing are taken as they are: docs/versions.md."""
    if elf.contract is not None and not lib.BH_INFO_OLDEST <= elf.contract <= lib.BH_INFO_VERSION:
        oldest = "" if lib.BH_INFO_OLDEST == lib.BH_INFO_VERSION else f"{lib.BH_INFO_OLDEST} to "
        text = f"`{name}` was built for version {elf.contract} of the guest contract, this is version {oldest}{lib.BH_INFO_VERSION}"
        raise PayloadError(WRONG_CONTRACT, text)


def is_multiboot(data: bytes) -> bool:
    for magic, within, words in MULTIBOOT:
        at = data.find(magic.to_bytes(4, "little"), 0, within)
        while at >= 0:
            if at % 4 == 0 and at + 4 * words <= len(data) and sum(struct.unpack_from(f"<{words}I", data, at)) % (1 << 32) == 0:
                return True
            at = data.find(magic.to_bytes(4, "little"), at + 1, within)
    return False


def _refuse_machine(machine: int, name: str, arch: str) -> None:
    wanted = FAMILIES[arch].programs.elf_machine
    if machine != wanted:
        text = f"`{name}` is {_kind(machine)} ELF, and this platform's cores take {_kind(wanted)} one"
        raise PayloadError(WRONG_MACHINE, text)


def _refuse_multiboot(elf: Elf, name: str) -> None:
    """Of a 64-bit ELF with a Multiboot header, the entry point is 32-bit code all the same; one that says it follows our contract is believed."""
    if elf.contract is None:
        text = f"`{name}` is a Multiboot kernel, {_kind(elf.machine)} ELF that is entered in 32-bit mode, and a sandbox is entered in 64-bit mode"
        raise PayloadError(WRONG_MACHINE, text)


def _executable(data: bytes, name: str, arch: str) -> Elf:
    """One for this platform's cores. Whether it is for another processor is said first: whoever builds it anew may have no other mistake."""
    has_multiboot, form = FAMILIES[arch].programs.entered_wide and is_multiboot(data), files.form_of(data)
    if form and not has_multiboot:
        _refuse_machine(files.read_header(form, data).machine, name, arch)
    elf = read_elf(data, name)
    if has_multiboot:
        _refuse_multiboot(elf, name)
    _refuse_machine(elf.machine, name, arch)
    return elf


def _refuse_segments(elf: Elf, name: str, room: Room) -> None:
    """Before anything is copied: a header of 56 bytes can claim all memory, and many can claim the same."""
    for gpa, _, size in elf.loads:
        if not room.holds(gpa, size):
            raise PayloadError(OUTSIDE_RAM, f"`{name}` needs {gpa:#x}..{gpa + size - 1:#x}, RAM is {room.gpa:#x}..{room.end - 1:#x}")
    for (first, _, size), (second, _, _) in pairwise(sorted(elf.loads, key=lambda load: load[0])):
        if first + size > second:
            raise PayloadError(OVERLAP, f"`{name}` has segments that overlap, at {first:#x}..{first + size - 1:#x} and at {second:#x}")


def link_address(arch: str, ram_gpa: int) -> int:
    """From where on nothing of the entry contract's lies in RAM."""
    return ram_gpa + FAMILIES[arch].programs.link_offset


def native_payload(data: bytes, name: str, arch: str, room: Room, window: int, load: int | None = None) -> Payload:
    """load: where a flat binary goes; None: an ELF. Raises PayloadError when the ELF is not for this machine or does not lie in the sandbox's RAM."""
    offset = FAMILIES[arch].programs.stack_offset
    if load is not None:
        assert offset is not None
        if data.startswith(files.MAGIC):
            raise PayloadError(NOT_ELF, f"`{name}` is an ELF file, which says itself where it is loaded; take `{PROPERTY}` out", PROPERTY)
        return Payload([flat_piece(data, name, load)], load, window + WINDOW_INFO, room.gpa + offset, stack_bound=room.gpa)
    elf = _executable(data, name, arch)
    _refuse_contract(elf, name)
    _refuse_segments(elf, name, room)
    pieces = [Piece(f"{name} at {gpa:#x}", gpa, bytes(content).ljust(size, b"\0")) for gpa, content, size in elf.loads]
    if not any(piece.gpa <= elf.entry < piece.end for piece in pieces):
        raise PayloadError(NOT_ELF, f"`{name}` has its entry point {elf.entry:#x} outside its segments")
    info = window + WINDOW_INFO
    if offset is None:
        return Payload(pieces + entry_pieces(), elf.entry, info, STACK, ENTRY_AREA)
    return Payload(pieces, elf.entry, info, room.gpa + offset, stack_bound=room.gpa)
