# SPDX-License-Identifier: Apache-2.0
"""A sandbox's software in its memory: where each piece goes, and how the first core enters it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

Resolve = Callable[[str], Path]


class NoFile(FileNotFoundError):
    """What a name stands for is not there; the hint is the end of a clause that says so."""

    def __init__(self, name: str, hint: str = "") -> None:
        super().__init__(name)
        self.hint = hint


OVERLAP = "BH-R064"
STACK_BYTES = 0x1000  # of an initial stack that has no other bound


class PayloadError(Exception):
    """A payload that cannot be used: which property names it, which rule it breaks, and what to do."""

    def __init__(self, rule: str, text: str, name: str = "image") -> None:
        super().__init__(text)
        self.rule = rule
        self.text = text
        self.property = name


class NotYet(Exception):
    """What a property names is not there, but the tool can make or fetch it."""

    property = "image"


@dataclass(frozen=True)
class Piece:
    """Bytes at a guest-physical address."""

    name: str
    gpa: int
    data: bytes = field(repr=False)

    @property
    def end(self) -> int:
        return self.gpa + len(self.data)


@dataclass
class Payload:
    pieces: list[Piece]
    entry: int
    arg: int = 0
    stack: int = 0
    entry_area: int = 0
    clock_text: int = 0  # GPA
    doubts: list[str] = field(default_factory=list)  # what Linux may not make of its initrd
    stack_bound: int | None = None  # the initial stack has all above this; None: STACK_BYTES


@dataclass(frozen=True)
class Room:
    """The sandbox's RAM."""

    gpa: int
    size: int

    @property
    def end(self) -> int:
        return self.gpa + self.size

    def holds(self, gpa: int, size: int) -> bool:
        return self.gpa <= gpa and gpa + size <= self.end


def refuse_outside(payload: Payload, room: Room, rule: str) -> None:
    """Raises PayloadError, of the rule for its kind, when a piece does not lie whole in the sandbox's RAM: what is beyond is another's."""
    for piece in payload.pieces:
        if not room.holds(piece.gpa, len(piece.data)):
            text = f"{piece.name} ({piece.gpa:#x}..{piece.end - 1:#x}) does not lie in RAM, {room.gpa:#x}..{room.end - 1:#x}"
            raise PayloadError(rule, text)


def refuse_overlaps(payload: Payload) -> None:
    """Raises PayloadError when two pieces, or a piece and the initial stack, collide."""
    pieces = sorted(payload.pieces, key=lambda piece: piece.gpa)
    for first, second in pairwise(pieces):
        if first.end > second.gpa:
            raise PayloadError(OVERLAP, f"{first.name} ({first.gpa:#x}..{first.end - 1:#x}) overlaps {second.name} ({second.gpa:#x}..)")
    bound = payload.stack - STACK_BYTES if payload.stack_bound is None else payload.stack_bound
    for piece in pieces:
        if piece.gpa < payload.stack and bound < piece.end:
            text = f"{piece.name} ({piece.gpa:#x}..{piece.end - 1:#x}) lies in the initial stack, {bound:#x}..{payload.stack - 1:#x}"
            raise PayloadError(OVERLAP, text)
