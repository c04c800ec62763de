# SPDX-License-Identifier: Apache-2.0
"""One PCI function as a node of the board tree describes it, and what its base address registers read (PCI Local Bus Specification 3.0, 6.2.5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from bhtool.config.iommu import Stream
from bhtool.config.span import Span
from bhtool.config.tree import Node

BARS, ONES = 6, 0xFFFFFFFF
READ_IO, READ_64, READ_PREFETCHABLE = 1, 4, 8


@dataclass(frozen=True)
class Bar:
    """One base address: `register` is its number, `text` what was written of it."""

    register: int
    start: int
    size: int
    is_ports: bool
    is_64: bool
    prefetchable: bool

    @property
    def span(self) -> Span:
        return Span(self.start, self.size)

    def words(self) -> dict[int, tuple[int, int]]:
        """Register number to what it reads: when it holds the address, and after all ones were written."""
        if self.is_ports:
            return {self.register: (self.start | READ_IO, -self.size & 0xFFFFFFFC | READ_IO)}
        kind = (READ_64 if self.is_64 else 0) | (READ_PREFETCHABLE if self.prefetchable else 0)
        low = {self.register: (self.start & 0xFFFFFFF0 | kind, -self.size & 0xFFFFFFF0 | kind)}
        return low | ({self.register + 1: (self.start >> 32, ONES)} if self.is_64 else {})


@dataclass(frozen=True)
class MsiX:
    """Where the table of MSI-X lies, as `bulkhead,msix` says: register of the base address, offset there, entries of 16 bytes."""

    register: int
    offset: int
    entries: int

    @property
    def size(self) -> int:
        return self.entries * 16

    @property
    def word(self) -> int:
        """As its capability has it: PCI Local Bus 3.0, 6.8.2.4."""
        return self.offset | self.register


@dataclass(frozen=True)
class Function:
    """What a node says; what is wrong with that is for the rules to find."""

    id: int  # bus << 8 | device << 3 | function
    identity: int  # device << 16 | vendor; 0: not given
    classes: tuple[int, ...]  # base classes
    bars: tuple[Bar, ...]
    host: Node = field(repr=False, compare=False)
    stream: Stream | None = None  # no IOMMU sees it
    msix: MsiX | None = None  # the tree does not say

    def bar(self, register: int) -> Bar | None:
        return next((one for one in self.bars if one.register == register), None)

    @property
    def message_pages(self) -> Span:
        """Whole pages, on the bus, around the table of MSI-X; none: it has none."""
        bar = self.bar(self.msix.register) if self.msix else None
        return Span(bar.start + self.msix.offset, self.msix.size).pages() if self.msix and bar else Span(0, 0)

    @property
    def words(self) -> list[tuple[int, int]]:
        """(value, mask) of each of the six registers."""
        held = {register: words for bar in self.bars for register, words in bar.words().items()}
        return [held.get(register, (0, 0)) for register in range(BARS)]
