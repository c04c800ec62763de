# SPDX-License-Identifier: Apache-2.0
"""The file a boot loader gets: the monitor, the partition table in its place, and every payload where it is used.

    monitor ELF:  boot | text | rodata | data | table (empty) | notes
    final ELF:    the same, the table filled, + one PT_LOAD for each Segment of the plan

Sections and symbols stay behind.
"""

import io
from dataclasses import dataclass, replace

from elftools.elf.elffile import ELFFile

from bhtool.config.plan import Plan
from bhtool.elf import PT_LOAD, PT_NOTE, Form, Header, Program, form_of, read_header
from bhtool.errors import BulkheadError

READ_WRITE = 6
TABLE_SECTION = ".partition_table"


@dataclass(frozen=True)
class Part:
    """A program header with its bytes."""

    kind: int
    flags: int
    virtual: int
    physical: int
    data: bytes
    memory_bytes: int
    alignment: int

    def holds(self, address: int) -> bool:
        return self.kind == PT_LOAD and self.virtual <= address < self.virtual + self.memory_bytes


def read_parts(elf: ELFFile) -> list[Part]:
    parts = []
    for segment in elf.iter_segments():
        if segment["p_type"] in ("PT_LOAD", "PT_NOTE"):
            kind = PT_LOAD if segment["p_type"] == "PT_LOAD" else PT_NOTE
            place = (segment["p_vaddr"], segment["p_paddr"])
            parts.append(Part(kind, segment["p_flags"], *place, segment.data(), segment["p_memsz"], segment["p_align"]))
    return parts


def table_address(elf: ELFFile) -> int:
    section = elf.get_section_by_name(TABLE_SECTION)
    if not section:
        raise BulkheadError(f"the monitor image has no section {TABLE_SECTION}")
    return int(section["sh_addr"])


def with_table(part: Part, address: int, table: bytes) -> Part:
    """The segment with the table written at `address`."""
    offset = address - part.virtual
    if offset + len(table) > part.memory_bytes:
        raise BulkheadError(f"the partition table ({len(table)} bytes) does not fit its place in the monitor image")
    data = bytearray(part.data.ljust(offset + len(table), b"\0"))
    data[offset : offset + len(table)] = table
    return replace(part, data=bytes(data))


def write_parts(form: Form, like: Header, parts: list[Part]) -> bytes:
    """An executable of these parts, each on a file page of its own so that offsets and addresses agree."""
    body = io.BytesIO()
    headers = []
    start = form.headers_size(len(parts))
    for part in parts:
        offset = start + body.tell()
        gap = (part.virtual - offset) % 4096
        body.write(b"\0" * gap)
        sizes = (len(part.data), part.memory_bytes)
        headers.append(Program(part.kind, part.flags, offset + gap, part.virtual, part.physical, *sizes, part.alignment))
        body.write(part.data)
    return form.pack_headers(like, headers) + body.getvalue()


def monitor_parts(monitor: bytes, plan: Plan) -> list[Part]:
    """The monitor with the table of a valid plan in its place."""
    elf = ELFFile(io.BytesIO(monitor))
    address = table_address(elf)
    return [with_table(part, address, plan.table) if part.holds(address) else part for part in read_parts(elf)]


def compose(monitor: bytes, plan: Plan) -> bytes:
    """The bootable image of a valid plan."""
    form = form_of(monitor)
    assert form is not None
    parts = monitor_parts(monitor, plan)
    for segment in plan.segments:
        parts.append(Part(PT_LOAD, READ_WRITE, segment.hpa, segment.hpa, segment.data, len(segment.data), 4096))
    return write_parts(form, read_header(form, monitor), parts)


def flatten(monitor: bytes, plan: Plan) -> tuple[int, bytes]:
    """Monitor and table as they lie in memory, without payload: where that begins, and its bytes."""
    parts = [part for part in monitor_parts(monitor, plan) if part.kind == PT_LOAD]
    start = min(part.physical for part in parts)
    memory = bytearray(max(part.physical + part.memory_bytes for part in parts) - start)
    for part in parts:
        memory[part.physical - start : part.physical - start + len(part.data)] = part.data
    return start, bytes(memory)
