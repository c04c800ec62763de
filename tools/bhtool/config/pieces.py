# SPDX-License-Identifier: Apache-2.0
"""Payload in whole pages: what a boot module carries, and what a restart copies back."""

from __future__ import annotations

from dataclasses import dataclass, field

from bhtool import abi
from bhtool.config.plan import Plan, SandboxPlan

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
        if hpa == one.pool_hpa + INFO or one.owns(hpa):
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


def pieces_in_ram(plan: Plan, one: SandboxPlan) -> list[Piece]:
    """Those a sandbox could change: its information page is not among them."""
    return [piece for piece in pieces_of(plan) if piece.sandbox == one.index and piece.start != one.pool_hpa + INFO]
