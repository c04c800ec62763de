# SPDX-License-Identifier: Apache-2.0
"""From a core's records to slices, marks and counters. Times are nanoseconds of the machine's clock.

Slices of a core lie in each other: a VCPU's, in it those of its threads, in these interrupts. What began before the oldest record is left out.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from bhtool.machine.memory import REASONS
from bhtool.trace.rings import CoreRing, Record, Trace, lib

Span = tuple[int, int]  # from, to
SliceKind = Literal["vcpu", "thread", "interrupt"]
MarkKind = Literal["used up", "ready", "sleeps", "replenishment", "send", "receive"]
# What a ring's writer can have wait for later records, so that time and memory grow with the records and no faster.
MOST_WAITING = 16  # replenishments of a VCPU: SPORADIC_MOST_ENTRIES of kernel/sched/sporadic.h
MOST_NESTED = 8  # interrupts; kernel/core/irq.c nests none


@dataclass
class Slice:
    kind: SliceKind
    name: str
    row: int  # of a VCPU; address of a thread; number of an interrupt
    start: int
    end: int = -1  # it goes on
    foreground: bool = False  # of a VCPU
    excepted: list[Span] = field(default_factory=list)  # of a VCPU: interrupts that were not charged to it

    def charged(self) -> list[Span]:
        """Without what was excepted."""
        edges = [self.start, *(edge for span in self.excepted for edge in span), self.end]
        return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]


@dataclass(frozen=True)
class Mark:
    at: int
    kind: MarkKind
    row: int  # of a VCPU; of a message its number
    amount: int = 0  # ns
    when: int = 0


@dataclass(frozen=True)
class Point:
    """A counter's value from then on."""

    at: int
    value: int


@dataclass
class Budget:
    """What a VCPU had left, as far as it was told, and what was to come back between."""

    most: int
    points: list[Point] = field(default_factory=list)
    coming: dict[int, int] = field(default_factory=dict)  # amount by time: MOST_WAITING at most

    def will_come(self, at: int, when: int, amount: int) -> None:
        """Told at `at`. A server's list that is full merges what comes last with what is new, so that takes its place."""
        self.come(at)
        if when < at:
            return
        if when not in self.coming and len(self.coming) == MOST_WAITING:
            del self.coming[max(self.coming)]
        self.coming[when] = amount

    def told(self, at: int, left: int) -> None:
        self.come(at)
        if not self.points or self.points[-1].value != left:
            self.points.append(Point(at, left))

    def come(self, until: int) -> None:
        for when in sorted(one for one in self.coming if one <= until):
            amount = self.coming.pop(when)
            if self.points:
                self.points.append(Point(when, min(self.most, self.points[-1].value + amount)))


@dataclass
class Timeline:
    core: int
    start: int = 0
    end: int = 0
    steps: list[tuple[int, Slice | Mark]] = field(default_factory=list)  # in order; a slice stands there twice: where it begins and ends
    all: list[Slice] = field(default_factory=list)  # in the order in which they began
    budgets: dict[int, Budget] = field(default_factory=dict)  # by VCPU's row
    exits: dict[str, list[Point]] = field(default_factory=dict)  # by reason
    owed: dict[int, int] = field(default_factory=dict)  # by VCPU's row: interrupts that it was charged for besides
    left_out: int = 0  # records: interrupts that would be nested deeper than MOST_NESTED

    @property
    def marks(self) -> list[Mark]:
        return [one for _, one in self.steps if isinstance(one, Mark)]

    def slices(self, kind: SliceKind) -> list[Slice]:
        """Those that have a length."""
        return [one for one in self.all if one.kind == kind and one.end > one.start]

    @cached_property
    def runs(self) -> dict[int, list[Slice]]:
        """Slices of VCPUs, by row. Requires: the time line is built."""
        found: dict[int, list[Slice]] = {}
        for one in self.slices("vcpu"):
            found.setdefault(one.row, []).append(one)
        return found

    @cached_property
    def used_up(self) -> dict[int, list[int]]:
        """When budgets were, by VCPU's row. Requires: the time line is built."""
        found: dict[int, list[int]] = {}
        for mark in self.marks:
            if mark.kind == "used up":
                found.setdefault(mark.row, []).append(mark.at)
        return found


class Builder:
    def __init__(self, trace: Trace, ring: CoreRing) -> None:
        self._trace, self._line = trace, Timeline(ring.core)
        self._open: list[Slice] = []  # a VCPU, a thread and interrupts at most
        self._thread: Record | None = None
        records = ring.records
        if records:
            self._line.start, self._line.end = trace.ns(records[0].clock), trace.ns(records[-1].clock)
        for record in records:
            self._take(record, trace.ns(record.clock))
        self._close(0, self._line.end)
        for budget in self._line.budgets.values():
            budget.come(self._line.end)

    def built(self) -> Timeline:
        return self._line

    def _take(self, record: Record, at: int) -> None:
        match record.kind:
            case lib.BH_TRACE_VCPU:
                self._vcpu(record, at)
            case lib.BH_TRACE_THREAD:
                self._run(record, at)
            case lib.BH_TRACE_EXCEPTED:
                self._except(record, at)
            case lib.BH_TRACE_CHANGED:
                self._budget(record.who).most = self._trace.ns(record.a)
            case lib.BH_TRACE_CHARGED:
                self._budget(record.who).told(at, self._trace.ns(record.a))
            case lib.BH_TRACE_IRQ_BEGIN:
                self._interrupt(record.who, at)
            case lib.BH_TRACE_IRQ_END:
                if self._open and self._open[-1].kind == "interrupt":
                    self._close(len(self._open) - 1, at)
            case lib.BH_TRACE_EXITS:
                reason = REASONS.get(record.who, f"reason {record.who}")
                self._line.exits.setdefault(reason, []).append(Point(at, record.a))
            case _:
                self._mark(record, at)

    def _mark(self, record: Record, at: int) -> None:
        trace, row = self._trace, record.who
        match record.kind:
            case lib.BH_TRACE_USED_UP:
                self._budget(row).told(at, 0)
                mark = Mark(at, "used up", row, when=trace.ns(record.a))
            case lib.BH_TRACE_REPLENISH:
                mark = Mark(at, "replenishment", row, trace.ns(record.a), trace.ns(record.b))
                self._budget(row).will_come(at, mark.when, mark.amount)
            case lib.BH_TRACE_READY | lib.BH_TRACE_SLEEP:
                mark = Mark(at, "ready" if record.kind == lib.BH_TRACE_READY else "sleeps", row)
            case _:
                mark = Mark(at, "send" if record.kind == lib.BH_TRACE_MSG_SEND else "receive", record.a)
        self._line.steps.append((at, mark))

    def _budget(self, row: int) -> Budget:
        most = self._trace.ns(self._trace.vcpus[row].budget) if row in self._trace.vcpus else 0
        return self._line.budgets.setdefault(row, Budget(most))

    def _vcpu(self, record: Record, at: int) -> None:
        was = next((one.row for one in self._open if one.kind == "vcpu"), None)
        self._close(0, at)
        if record.who:
            self._begin(Slice("vcpu", self._trace.name(record.who), record.who, at, foreground=bool(record.b)))
        if record.who and record.b:
            self._budget(record.who).told(at, self._trace.ns(record.a))
        if was == record.who and self._thread is not None:  # another ground, the same thread
            self._run(self._thread, at)

    def _except(self, record: Record, at: int) -> None:
        """From the interrupt's entry on, which comes a little before its record."""
        start = self._trace.ns(record.clock - record.a)
        one = next((one for one in self._open if one.kind == "vcpu"), None)
        if one and start >= (one.excepted[-1][1] if one.excepted else one.start):
            one.excepted.append((start, at))
        if record.who:
            self._line.owed[record.who] = self._line.owed.get(record.who, 0) + at - start

    def _run(self, thread: Record, at: int) -> None:
        self._thread = thread
        depth = next((n for n, one in enumerate(self._open) if one.kind == "thread"), len(self._open))
        self._close(depth, at)
        if any(one.kind == "vcpu" for one in self._open):
            self._begin(Slice("thread", self._trace.text(thread.b), thread.a, at))

    def _interrupt(self, number: int, at: int) -> None:
        if sum(one.kind == "interrupt" for one in self._open) < MOST_NESTED:
            self._begin(Slice("interrupt", f"interrupt {number}", number, at))
        else:
            self._line.left_out += 1

    def _begin(self, one: Slice) -> None:
        self._open.append(one)
        self._line.all.append(one)
        self._line.steps.append((one.start, one))

    def _close(self, depth: int, at: int) -> None:
        """All from this depth on, the innermost first."""
        while len(self._open) > depth:
            one = self._open.pop()
            one.end = at
            self._line.steps.append((at, one))


def timelines(trace: Trace) -> list[Timeline]:
    return [Builder(trace, ring).built() for ring in trace.rings]
