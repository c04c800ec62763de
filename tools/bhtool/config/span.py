# SPDX-License-Identifier: Apache-2.0
"""Stretches of addresses, of RAM, registers or ports."""

from __future__ import annotations

from dataclasses import dataclass

PAGE = 0x1000
MIB2 = 2 << 20  # in which sandboxes have RAM: a large leaf of every stage-2 format


def align_up(value: int, align: int) -> int:
    """`align`: a power of two."""
    return value + align - 1 & ~(align - 1)


@dataclass(frozen=True)
class Span:
    start: int
    size: int

    @property
    def end(self) -> int:
        return self.start + self.size

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end

    def common(self, other: Span) -> Span:
        """What both have; of size 0: nothing."""
        start = max(self.start, other.start)
        return Span(start, max(0, min(self.end, other.end) - start))

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end

    def pages(self) -> Span:
        """The whole 4 KiB pages it touches."""
        start = self.start & ~(PAGE - 1)
        return Span(start, align_up(self.end, PAGE) - start)

    def __str__(self) -> str:
        return f"{self.start:#x}..{self.end - 1:#x}"
