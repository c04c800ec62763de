# SPDX-License-Identifier: Apache-2.0
"""What a time line comes to, in figures: each VCPU's share, and whether it kept to its budget."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bhtool.trace.rings import CoreRing, Trace
from bhtool.trace.timeline import Span, Timeline


@dataclass(frozen=True)
class Share:
    """Of one VCPU, in nanoseconds, while it was traced."""

    name: str
    budget: int
    period: int
    foreground: int  # that it ran on its budget, interrupts that it was not charged for left out
    background: int  # likewise, without
    interrupts: int  # that it was charged for while another ran, or it ran without budget
    used_up: int  # times
    most_in_a_period: int  # of foreground, in any stretch as long as its period


def length(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def most_in(spans: list[Span], stretch: int) -> int:
    """Most time of these, which follow one another, in any stretch of that length: some such stretch ends where a span ends."""
    most, held, first = 0, 0, 0
    for last, (start, end) in enumerate(spans):
        held += end - start
        while first < last and spans[first][1] <= end - stretch:
            held -= spans[first][1] - spans[first][0]
            first += 1
        most = max(most, held - max(0, end - stretch - spans[first][0]))
    return most


def ran(line: Timeline, row: int, foreground: bool = True) -> list[Span]:
    """When a VCPU ran at its own expense."""
    return [span for one in line.runs.get(row, []) if one.foreground == foreground for span in one.charged()]


def share_of(trace: Trace, line: Timeline, row: int) -> Share:
    vcpu, own = trace.vcpus[row], ran(line, row)
    period = trace.ns(vcpu.period)
    spent = (length(own), length(ran(line, row, False)), line.owed.get(row, 0))
    return Share(vcpu.name, trace.ns(vcpu.budget), period, *spent, len(line.used_up.get(row, [])), most_in(own, period))


def shares(trace: Trace, line: Timeline) -> list[Share]:
    return [share_of(trace, line, row) for row in trace.vcpus if row in line.runs]


def counted(ring: CoreRing, line: Timeline) -> tuple[int, int]:
    """Records that the time line has, and those that were lost."""
    return len(ring.records) - line.left_out, ring.lost + line.left_out


def account(trace: Trace, lines: list[Timeline]) -> dict[str, Any]:
    """For JSON."""
    cores = [
        {
            "core": ring.core,
            "records": counted(ring, line)[0],
            "lost": counted(ring, line)[1],
            "seconds": (line.end - line.start) / 1e9,
            "interrupts": len(line.slices("interrupt")),
            "vcpus": [vars(share) for share in shares(trace, line)],
        }
        for ring, line in zip(trace.rings, lines, strict=True)
    ]
    return {"name": trace.sandbox, "clock_hz": trace.hz, "cores": cores}
