# SPDX-License-Identifier: Apache-2.0
"""Places everything physical. Deterministic: the same files give the same addresses.

Order: pinned regions stay where the file says; then the shared page, the pools, and sandbox RAM, largest first, each at
the lowest address that fits. A sandbox that takes the rest and names no region gets the largest stretch still free.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bhtool.config.domains import Domains, Sandbox
from bhtool.config.machine import PAGE, Span

MIB2 = 2 << 20
GIB = 1 << 30


class NoRoom(Exception):
    """No free stretch is large enough."""

    def __init__(self, sandbox: Sandbox, size: int, largest: int) -> None:
        super().__init__(f"{size} bytes for {sandbox.name}")
        self.sandbox = sandbox
        self.size = size
        self.largest = largest


class Free:
    """Sorted, disjoint free stretches of RAM."""

    def __init__(self, ram: list[Span], taken: list[Span]) -> None:
        self.spans = sorted(ram, key=lambda span: span.start)
        for span in taken:
            self.remove(span)

    def remove(self, taken: Span) -> None:
        pieces = []
        for span in self.spans:
            before = Span(span.start, max(0, min(span.end, taken.start) - span.start))
            after_start = max(span.start, taken.end)
            after = Span(after_start, max(0, span.end - after_start))
            pieces += [span] if not span.overlaps(taken) else [piece for piece in (before, after) if piece.size]
        self.spans = pieces

    def take(self, size: int, align: int) -> int | None:
        """The lowest address that fits, now taken; None if there is none."""
        return self.take_within(size, align, 1 << 64)

    def take_within(self, size: int, align: int, block: int) -> int | None:
        """The same, and no boundary between blocks, which are larger, is crossed."""
        for span in self.spans:
            start = _up(span.start, align)
            if start // block != (start + size - 1) // block:
                start = _up(start, block)
            if start + size <= span.end:
                self.remove(Span(start, size))
                return start
        return None

    def largest(self, align: int) -> Span:
        """The largest aligned stretch, of a whole number of aligned units."""
        spans = [Span(_up(span.start, align), (span.end & ~(align - 1)) - _up(span.start, align)) for span in self.spans]
        return max(spans, key=lambda span: span.size, default=Span(0, 0))


@dataclass
class Placement:
    shared: int = 0
    pools: list[int] = field(default_factory=list)
    ram: list[Span] = field(default_factory=list)  # by sandbox index
    free: Free = field(default_factory=lambda: Free([], []))  # what is left


def _up(value: int, align: int) -> int:
    return value + align - 1 & ~(align - 1)


def place(domains: Domains, pool_sizes: list[int]) -> Placement:
    """Raises NoRoom. The rules on pinned regions must have passed. A pool's frames have one table in common."""
    pinned = [span for memory in domains.memories if (span := memory.span)]
    free = Free(domains.machine.ram, domains.machine.reserved + pinned)
    placement = Placement(ram=[Span(0, 0)] * len(domains.sandboxes), free=free)
    placement.shared = _must(free.take(PAGE, PAGE), domains.sandboxes[0], PAGE, free)
    for sandbox, size in zip(domains.sandboxes, pool_sizes, strict=True):
        placement.pools.append(_must(free.take_within(size, PAGE, MIB2), sandbox, size, free))
    for sandbox in sorted(domains.sandboxes, key=lambda one: (takes_largest(domains, one), -_size(domains, one), one.index)):
        placement.ram[sandbox.index] = _place_ram(domains, sandbox, free)
    return placement


def _must(start: int | None, sandbox: Sandbox, size: int, free: Free) -> int:
    if start is None:
        raise NoRoom(sandbox, size, free.largest(PAGE).size)
    return start


def _size(domains: Domains, sandbox: Sandbox) -> int:
    memory = domains.memory_of(sandbox)
    return memory.size if memory else 0


def takes_largest(domains: Domains, sandbox: Sandbox) -> bool:
    """Whether its RAM is what others leave."""
    return sandbox.takes_the_rest and domains.memory_of(sandbox) is None


def _place_ram(domains: Domains, sandbox: Sandbox, free: Free) -> Span:
    memory = domains.memory_of(sandbox)
    if memory is None:
        span = _bounded(free.largest(MIB2), domains)
        free.remove(span)
        return span
    if memory.span:
        return memory.span
    start = free.take(memory.size, GIB) if memory.size >= GIB else None
    if start is None:
        start = free.take(memory.size, MIB2)
    if start is None:
        raise NoRoom(sandbox, memory.size, free.largest(MIB2).size)
    return Span(start, memory.size)


def _bounded(span: Span, domains: Domains) -> Span:
    """Guest RAM ends below the window where the window lies above it."""
    machine = domains.machine
    limit = machine.window - machine.guest_ram if machine.window > machine.guest_ram else span.size
    return Span(span.start, min(span.size, limit & ~(MIB2 - 1)))
