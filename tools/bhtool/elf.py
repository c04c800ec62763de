# SPDX-License-Identifier: Apache-2.0
"""The two classes of ELF files, little-endian: System V ABI, "Object Files" and "Program Loading"."""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass

MAGIC = b"\x7fELF"
CLASS, DATA, LITTLE_ENDIAN = 4, 5, 1  # indices into the identification
ET_EXEC, EV_CURRENT = 2, 1
PT_LOAD, PT_NOTE = 1, 4
NOTE = struct.Struct("<III")  # bytes of the name, of the descriptor; type: System V ABI, "Note Section"
NOTE_BYTES = 1 << 20  # that are looked through


@dataclass(frozen=True)
class Header:
    """ELF header in the order both classes have it."""

    identification: bytes
    type: int
    machine: int
    version: int
    entry: int
    program_offset: int
    section_offset: int
    flags: int
    size: int
    program_size: int
    program_count: int
    section_size: int
    section_count: int
    section_names: int


@dataclass(frozen=True)
class Program:
    """Program header."""

    type: int
    flags: int
    offset: int
    virtual: int
    physical: int
    file_bytes: int
    memory_bytes: int
    alignment: int


@dataclass(frozen=True)
class Form:
    """One class of file. Members have the same order in both, but for a program header's flags."""

    header: struct.Struct
    program: struct.Struct
    flags_at: int
    section_bytes: int  # of a section header

    def unpack_program(self, data: bytes, offset: int) -> Program:
        fields = list(self.program.unpack_from(data, offset))
        flags = fields.pop(self.flags_at)
        return Program(fields[0], flags, *fields[1:])

    def pack_program(self, one: Program) -> bytes:
        fields = list(astuple(one))
        flags = fields.pop(1)
        fields.insert(self.flags_at, flags)
        return self.program.pack(*fields)

    def pack_headers(self, like: Header, programs: list[Program]) -> bytes:
        """For an executable like another. Of sections it has the first, which is none: GRUB 2.12 refuses a file without a table of them."""
        sections = self.header.size + self.program.size * len(programs)
        offsets = (self.header.size, sections, like.flags, self.header.size)
        counts = (self.program.size, len(programs), self.section_bytes, 1, 0)
        header = self.header.pack(like.identification, ET_EXEC, like.machine, EV_CURRENT, like.entry, *offsets, *counts)
        return header + b"".join(self.pack_program(one) for one in programs) + bytes(self.section_bytes)

    def headers_size(self, program_count: int) -> int:
        """Bytes that pack_headers will give."""
        return self.header.size + self.program.size * program_count + self.section_bytes


FORMS = {
    1: Form(struct.Struct("<16sHHIIIIIHHHHHH"), struct.Struct("<IIIIIIII"), flags_at=6, section_bytes=40),
    2: Form(struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQQQ"), flags_at=1, section_bytes=64),
}


def form_of(data: bytes) -> Form | None:
    """None: this is no little-endian ELF file."""
    if data[:4] != MAGIC or len(data) < 16 or data[DATA] != LITTLE_ENDIAN:
        return None
    form = FORMS.get(data[CLASS])
    return form if form and len(data) >= form.header.size else None


def read_header(form: Form, data: bytes) -> Header:
    return Header(*form.header.unpack_from(data))


def read_programs(form: Form, header: Header, data: bytes) -> list[Program] | None:
    """None: they lie outside the file, or are too small."""
    if header.program_size < form.program.size or header.program_offset + header.program_size * header.program_count > len(data):
        return None
    return [form.unpack_program(data, header.program_offset + header.program_size * n) for n in range(header.program_count)]


def note(data: bytes, programs: list[Program], name: bytes, kind: int) -> bytes | None:
    """The descriptor of the first note with that name (NUL included) and type; None if there is none whole in the first NOTE_BYTES of notes."""
    left = NOTE_BYTES
    for program in programs:
        if program.type != PT_NOTE:
            continue
        at, end = program.offset, min(program.offset + min(program.file_bytes, left), len(data))
        left -= max(0, end - at)
        while at + NOTE.size <= end:
            name_bytes, descriptor_bytes, its_kind = NOTE.unpack_from(data, at)
            name_at = at + NOTE.size
            begin = name_at + (name_bytes + 3 & ~3)
            at = begin + (descriptor_bytes + 3 & ~3)
            if at <= end and its_kind == kind and name_bytes == len(name) and data[name_at : name_at + name_bytes] == name:
                return data[begin : begin + descriptor_bytes]
    return None
