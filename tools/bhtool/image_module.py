# SPDX-License-Identifier: Apache-2.0
"""Payload for boot loaders that choose themselves where a file goes: one boot module, and the table that tells of it.

segments of the plan     info | kernel, initrd | ... wherever they are used
module                   the same in whole pages, in the order of their addresses, one behind the other
"""

from dataclasses import dataclass, field, replace

from bhtool import abi
from bhtool.config.plan import Plan
from bhtool.config.table import checksum, checksum_words
from bhtool.errors import BulkheadError

PAGE = abi.lib.BH_PAGE_BYTES
INFO = abi.lib.BH_POOL_INFO


@dataclass
class Piece:
    """Whole pages of one sandbox."""

    sandbox: int
    start: int
    data: bytearray = field(repr=False)

    @property
    def end(self) -> int:
        return self.start + len(self.data)

    def put(self, address: int, data: bytes) -> None:
        """Grows to hold the data; what lies between is zero."""
        end = -(-(address + len(data)) // PAGE) * PAGE
        self.data.extend(bytes(max(0, end - self.end)))
        self.data[address - self.start : address - self.start + len(data)] = data


def owner(plan: Plan, hpa: int) -> int:
    for one in plan.sandboxes:
        if hpa == one.pool_hpa + INFO or one.ram_hpa <= hpa < one.ram_hpa + one.ram_size:
            return one.index
    raise AssertionError(f"a segment at {hpa:#x} belongs to no sandbox")


def pieces_of(plan: Plan) -> list[Piece]:
    """Segments in the order of their addresses; those that share a page, or whose pages touch, are one."""
    pieces: list[Piece] = []
    for segment in sorted(plan.segments, key=lambda one: one.hpa):
        first_page, sandbox = segment.hpa // PAGE * PAGE, owner(plan, segment.hpa)
        if not pieces or pieces[-1].sandbox != sandbox or pieces[-1].end < first_page:
            pieces.append(Piece(sandbox, first_page, bytearray()))
        pieces[-1].put(segment.hpa, segment.data)
    return pieces


def with_module(plan: Plan) -> tuple[Plan, bytes]:
    """The same plan with its payload in a boot module instead of in place, and that module."""
    pieces = pieces_of(plan)
    if len(pieces) > abi.lib.BH_MAX_COPIES:
        raise BulkheadError(f"payload of {len(pieces)} pieces; a boot module holds {abi.lib.BH_MAX_COPIES}: give sandboxes fewer segments")
    module = b"".join(piece.data for piece in pieces)
    table = abi.new("bh_table")
    abi.ffi.memmove(table, plan.table, len(plan.table))
    offset = 0
    for row, piece in zip(table.copies, pieces, strict=False):
        row.offset, row.target, row.size, row.sandbox = offset, piece.start, len(piece.data), piece.sandbox
        offset += len(piece.data)
    table.copy_count = len(pieces)
    table.module_bytes, table.module_checksum = len(module), checksum_words(module)
    table.checksum = checksum(abi.bytes_of(table))
    return replace(plan, table=abi.bytes_of(table), segments=[]), module
