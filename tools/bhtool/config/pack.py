# SPDX-License-Identifier: Apache-2.0
"""Finds a place for everything where first fit does not: an exact search, depth first, with a bound.

    a stretch of RAM:   copies ►│    │ RAM of sandboxes │    │◄ copies       what is left between them: pools, the page all share
Whatever fits a stretch fits it in this form: RAM that lies between others' moves next to them, in whole units, as nothing else is aligned to
more than a page, but for the tables of an IOMMU, which there are once. Channels are laid as copies are. So these are tried at both ends of every stretch first, then RAM, largest first, then what is small. A state that has been
left once is not looked at again, and none is whose units cannot hold the RAM that is still to come.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bhtool.abi import lib
from bhtool.config.span import MIB2, PAGE, Span, align_up

GIB = 1 << 30
MOST_STATES = 20_000  # less than a second; of a thousand tight random partitions three need more

Kind = Literal["copy", "channel", "ram", "iommu", "pool", "shared"]
ORDER: tuple[Kind, ...] = ("copy", "channel", "ram", "iommu", "pool", "shared")
State = tuple[Span, ...]  # free stretches in the order of their addresses


@dataclass(frozen=True)
class Want:
    """So many bytes, for a sandbox: RAM in whole units of 2 MiB, a pool within one of them, anything else in pages; of an IOMMU for all."""

    kind: Kind
    sandbox: int  # of a channel: its own number
    size: int

    @property
    def align(self) -> int:
        return {"ram": MIB2, "iommu": int(lib.BH_IOMMU_ALIGN)}.get(self.kind, PAGE)

    @property
    def round(self) -> int:
        """Where it takes fewer tables, if there is such a place; 0: anywhere alike."""
        if self.kind == "ram" and self.size >= GIB:
            return GIB
        return MIB2 if self.kind == "channel" and self.size >= MIB2 else 0

    @property
    def block(self) -> int:
        """Whose boundaries it does not cross."""
        return MIB2 if self.kind == "pool" or (self.kind == "iommu" and self.size <= MIB2) else 1 << 64


def lowest(span: Span, want: Want, align: int) -> int | None:
    start = align_up(span.start, align)
    if start // want.block != (start + want.size - 1) // want.block:
        start = align_up(start, want.block)
    return start if start + want.size <= span.end else None


def highest(span: Span, want: Want, align: int) -> int | None:
    start = span.end - want.size & ~(align - 1)
    if start // want.block != (start + want.size - 1) // want.block:
        start = (start + want.size & ~(want.block - 1)) - want.size & ~(align - 1)
    return start if start >= span.start else None


def without(state: State, taken: Span) -> State:
    left = []
    for span in state:
        if not span.overlaps(taken):
            left.append(span)
            continue
        for start, end in ((span.start, taken.start), (taken.end, span.end)):
            if start < end:
                left.append(Span(start, end - start))
    return tuple(left)


def whole_units(state: Sequence[Span]) -> list[Span]:
    """What sandboxes can have of it as RAM."""
    found = [Span(align_up(span.start, MIB2), max(0, (span.end & ~(MIB2 - 1)) - align_up(span.start, MIB2))) for span in state]
    return [span for span in found if span.size]


def pack(free: Sequence[Span], wants: Sequence[Want]) -> dict[Want, int] | None:
    """A start for everybody, always the same for the same question; None: there is none, or it was not found within the bound."""
    return _Search(sorted(wants, key=lambda one: (ORDER.index(one.kind), -one.size, one.sandbox))).run(tuple(free))


class _Search:
    def __init__(self, wants: list[Want]) -> None:
        self.wants = wants
        self.bytes_ahead = [sum(one.size for one in wants[n:]) for n in range(len(wants))]
        self.ram_ahead = [sum(one.size for one in wants[n:] if one.kind == "ram") for n in range(len(wants))]
        self.left: set[tuple[int, State]] = set()

    def run(self, free: State) -> dict[Want, int] | None:
        """Depth first without recursion: for each want that has a place the choices not tried yet."""
        places: list[int] = []
        states, choices = [free], [self._choices(0, free)]
        while choices:
            if len(places) == len(self.wants):
                return dict(zip(self.wants, places, strict=True))
            start = next(choices[-1], None)
            if start is None:
                choices.pop()
                states.pop()
                if places:
                    places.pop()
                continue
            places.append(start)
            states.append(without(states[-1], Span(start, self.wants[len(places) - 1].size)))
            choices.append(self._choices(len(places), states[-1]))
        return None

    def _choices(self, number: int, state: State) -> Iterator[int]:
        """Where this want could go: round addresses for what is large, then low, then high ones."""
        if number == len(self.wants) or (number, state) in self.left or len(self.left) == MOST_STATES:
            return
        self.left.add((number, state))
        if sum(span.size for span in state) < self.bytes_ahead[number]:
            return
        if sum(span.size for span in whole_units(state)) < self.ram_ahead[number]:
            return
        want = self.wants[number]
        round_first = [lowest(span, want, want.round) for span in state] if want.round else []
        ends = [fit(span, want, want.align) for fit in (lowest, highest) for span in state]
        yield from dict.fromkeys(start for start in (*round_first, *ends) if start is not None)
