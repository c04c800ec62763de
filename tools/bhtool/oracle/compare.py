# SPDX-License-Identifier: Apache-2.0
"""What is mapped beside what is granted, stretch by stretch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import TypeVar

from bhtool.config.span import Span
from bhtool.oracle.policy import Grant
from bhtool.oracle.walk import Leaf


@dataclass(frozen=True)
class Finding:
    """One difference."""

    sandbox: str
    kind: str  # "memory", "table", "port", "register", "control", "monitor", "stream"
    address: int
    text: str

    def __str__(self) -> str:
        return f"{self.sandbox}: {self.kind} {self.address:#x}: {self.text}"


@dataclass(frozen=True)
class Run:
    """Leaves that go on in each other."""

    gpa: int
    hpa: int
    size: int
    access: str
    memory: str

    @property
    def end(self) -> int:
        return self.gpa + self.size

    @property
    def frames(self) -> Span:
        return Span(self.hpa, self.size)


def joined(leaves: Iterable[Leaf]) -> list[Run]:
    found: list[Run] = []
    for leaf in leaves:
        last = found[-1] if found else None
        follows = last and (last.end, last.hpa + last.size, last.access, last.memory) == (leaf.gpa, leaf.hpa, leaf.access, leaf.memory)
        if last and follows:
            found[-1] = Run(last.gpa, last.hpa, last.size + leaf.size, last.access, last.memory)
        else:
            found.append(Run(leaf.gpa, leaf.hpa, leaf.size, leaf.access, leaf.memory))
    return found


def compared(leaves: Iterable[Leaf], granted: Iterable[Grant]) -> Iterator[tuple[int, str]]:
    mapped, grants = joined(leaves), sorted(granted, key=lambda grant: grant.gpa)
    cuts = sorted({edge for run in mapped for edge in (run.gpa, run.end)} | {edge for grant in grants for edge in (grant.gpa, grant.end)})
    runs_left, grants_left = deque(mapped), deque(grants)
    seen: dict[str, tuple[int, bool]] = {}
    for start, end in pairwise(cuts):
        run, grant = _first_at(runs_left, start), _first_at(grants_left, start)
        yield from ((start, text) for text in _differences(start, end, run, grant))
        if grant and grant.opened and seen.setdefault(grant.opened, (start, bool(run)))[1] != bool(run):
            yield start, f"of channel {grant.opened}, which is open or closed, one part is mapped and another is not"


Stretch = TypeVar("Stretch", Run, Grant)


def _first_at(left: deque[Stretch], start: int) -> Stretch | None:
    """The first, by guest-physical address, that holds `start`; what ends before leaves the queue."""
    while left and left[0].end <= start:
        left.popleft()
    return next((one for one in takewhile(lambda one: one.gpa <= start, left) if start < one.end), None)


def _differences(start: int, end: int, run: Run | None, grant: Grant | None) -> Iterator[str]:
    """What is wrong with one stretch of guest-physical memory, in which nothing changes."""
    if run and not grant:
        hpa = run.hpa + start - run.gpa
        yield f"mapped to {hpa:#x}..{hpa + end - start - 1:#x} ({run.access}), but not granted"
    if grant and not run and not grant.opened:
        yield f"{grant.name} is granted to {end - 1:#x}, but not mapped"
    if grant and run:
        hpa, wanted = run.hpa + start - run.gpa, grant.hpa + start - grant.gpa
        if hpa != wanted:
            yield f"{grant.name} leads to {hpa:#x} instead of {wanted:#x}"
        if run.access != grant.access:
            yield f"{grant.name} is open for {run.access or 'nothing'}, granted for {grant.access}"
        if run.memory != grant.memory:
            yield f"{grant.name} has memory type {run.memory}, should have {grant.memory}"


def common(one: Span, other: Span) -> Span | None:
    start, end = max(one.start, other.start), min(one.end, other.end)
    return Span(start, end - start) if start < end else None
