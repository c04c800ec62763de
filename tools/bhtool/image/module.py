# SPDX-License-Identifier: Apache-2.0
"""Payload for boot loaders that choose themselves where a file goes: one boot module, and the table that tells of it.

segments of the plan     info | kernel, initrd | ... wherever they are used
module                   the same in whole pages, in the order of their addresses, one after the other
"""

from dataclasses import replace

from bhtool import abi
from bhtool.config.pieces import pieces_of
from bhtool.config.plan import Plan
from bhtool.config.table import checksum, checksum_words
from bhtool.errors import BulkheadError


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
