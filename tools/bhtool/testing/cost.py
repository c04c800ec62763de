# SPDX-License-Identifier: Apache-2.0
"""What tests cost in CPU-seconds: their own, those of programs that have ended, and those of programs that still run."""

import os
from dataclasses import dataclass
from pathlib import Path

PROPERTY = "cpu_seconds"  # of a test case in JUnit files
SLOWEST = 10


def children(pid: int) -> list[int]:
    """Processes that any thread of this one has started and not yet waited for."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, file.read_text().split())
        except OSError:  # the thread has just ended
            continue
    return found


def used_by_living(pid: int) -> float:
    """By the process and everybody below it: utime, stime, cutime and cstime of proc(5)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:  # it has just ended: whoever waits for it counts it
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(used_by_living, children(pid)))


def used_so_far() -> float:
    """By this process and all below it, living or not. It never falls."""
    times = os.times()
    ended = times.user + times.system + times.children_user + times.children_system
    return ended + sum(map(used_by_living, children(os.getpid())))


@dataclass(frozen=True)
class Cost:
    """Of one test."""

    part: str  # the file it stands in
    name: str
    seconds: float


def by_part(costs: list[Cost]) -> dict[str, tuple[int, float]]:
    """How many tests and CPU-seconds, the most expensive first."""
    parts: dict[str, tuple[int, float]] = {}
    for one in costs:
        count, seconds = parts.get(one.part, (0, 0.0))
        parts[one.part] = (count + 1, seconds + one.seconds)
    return dict(sorted(parts.items(), key=lambda item: -item[1][1]))


def report(costs: list[Cost], everything: float) -> list[str]:
    """Lines for the end of a run. `everything` includes what no test accounts for: building, starting, collecting."""
    parts = [(seconds, f"{part} ({count} tests)") for part, (count, seconds) in by_part(costs).items() if seconds >= 1]
    rest = (everything - sum(one.seconds for one in costs), "building, starting, collecting")
    tests = [(one.seconds, one.name) for one in slowest(costs)]
    return [
        f"CPU-seconds: {everything:.0f}",
        *(f"{seconds:9.1f}  {what}" for seconds, what in [*parts, rest]),
        *(["the most expensive tests:"] if tests else []),
        *(f"{seconds:9.1f}  {what}" for seconds, what in tests),
    ]


def slowest(costs: list[Cost]) -> list[Cost]:
    return [one for one in sorted(costs, key=lambda one: -one.seconds)[:SLOWEST] if one.seconds >= 1]
