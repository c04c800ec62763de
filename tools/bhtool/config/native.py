# SPDX-License-Identifier: Apache-2.0
"""Native sandboxes: any statically linked ELF that follows the entry contract of abi/guest.h, loaded by physical address."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from bhtool.config.grants import WINDOW_INFO
from bhtool.config.payload import Payload, PayloadError, Piece, Room
from bhtool.config.x86_entry import ENTRY_AREA, STACK, entry_pieces

NOT_ELF, WRONG_MACHINE, OUTSIDE_RAM = "BH-R061", "BH-R062", "BH-R063"
ELF_MACHINES = {"aarch64": 183, "x86_64": 62}  # EM_AARCH64, EM_X86_64
ET_EXEC, PT_LOAD = 2, 1
ARM_STACK_OFFSET = 0x80000  # the contract's link address is RAM + 0x80000: the stack grows down from there


@dataclass(frozen=True)
class Elf:
    machine: int
    entry: int
    loads: list[tuple[int, bytes, int]]  # physical address, bytes, size in memory


def read_elf(data: bytes, name: str) -> Elf:
    """The loadable part of a 64-bit little-endian executable. Raises PayloadError."""
    if len(data) < 64 or data[:6] != b"\x7fELF\x02\x01":
        raise PayloadError(NOT_ELF, f"`{name}` is not a 64-bit little-endian ELF file")
    kind, machine, _, entry, table = struct.unpack_from("<HHIQQ", data, 16)
    entry_size, count = struct.unpack_from("<HH", data, 54)
    if kind != ET_EXEC or table + entry_size * count > len(data) or entry_size < 56:
        raise PayloadError(NOT_ELF, f"`{name}` is not a statically linked, complete executable")
    headers = [struct.unpack_from("<IIQQQQQQ", data, table + entry_size * n) for n in range(count)]
    loads = []
    for type_, _, offset, _, physical, in_file, in_memory, _ in headers:
        if type_ == PT_LOAD and in_memory:
            if offset + in_file > len(data) or in_memory < in_file:
                raise PayloadError(NOT_ELF, f"`{name}` is cut short")
            loads.append((physical, data[offset : offset + in_file], in_memory))
    return Elf(machine, entry, loads)


def native_payload(data: bytes, name: str, arch: str, room: Room, window: int) -> Payload:
    """Raises PayloadError when the ELF is not for this machine or does not lie in the sandbox's RAM."""
    elf = read_elf(data, name)
    if elf.machine != ELF_MACHINES[arch]:
        raise PayloadError(WRONG_MACHINE, f"`{name}` is for ELF machine {elf.machine}, this platform is {arch} ({ELF_MACHINES[arch]})")
    for gpa, _, size in elf.loads:
        if not room.holds(gpa, size):
            raise PayloadError(OUTSIDE_RAM, f"`{name}` needs {gpa:#x}..{gpa + size - 1:#x}, RAM is {room.gpa:#x}..{room.end - 1:#x}")
    pieces = [Piece(f"{name} at {gpa:#x}", gpa, content.ljust(size, b"\0")) for gpa, content, size in elf.loads]
    if not any(piece.gpa <= elf.entry < piece.end for piece in pieces):
        raise PayloadError(NOT_ELF, f"`{name}` has its entry point {elf.entry:#x} outside its segments")
    info = window + WINDOW_INFO
    if arch == "x86_64":
        return Payload(pieces + entry_pieces(), elf.entry, info, STACK, ENTRY_AREA)
    return Payload(pieces, elf.entry, info, room.gpa + ARM_STACK_OFFSET)
