# SPDX-License-Identifier: Apache-2.0
"""What VCPUs were promised and what they were given, by the lines of the command `vcpus`: the verdict follows from the numbers there."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from tests.emulated.observe import Observation

VCPU = re.compile(r": vcpu (\S+): (\d+) us of (\d+) us; given (\d+) us in (\d+) us, background (\d+) us$")
PROGRAM = re.compile(r": (\S+): (\d+) rounds(?:, (\d+) missed, latest (\d+) ns)?$")
ROUNDED_US = 1  # each number is rounded


@dataclass(frozen=True)
class Share:
    """A VCPU, as the kernel tells of it. Times in us."""

    name: str
    budget: int
    period: int
    given: int
    elapsed: int  # since it was made
    background: int

    def wrong(self, late: int) -> str | None:
        """Of one that is always ready: all budgets of periods that are over, no more than one further, and `late` either way."""
        periods = self.elapsed // self.period
        least, most = periods * self.budget - late, (periods + 1) * self.budget + late
        if least <= self.given <= most:
            return None
        return f"{self.name} has had {self.given} us in {self.elapsed} us, not {least} to {most}: {self.budget} us in each {self.period} us"


@dataclass(frozen=True)
class Rounds:
    """A program's, of which `loop` begins one in each period."""

    name: str
    count: int
    missed: int
    latest_ns: int


def shares(lines: list[str]) -> list[Share]:
    """By rank, as of the last time the command was given."""
    rows = [match.groups() for line in lines if (match := VCPU.search(line))]
    found = [Share(name, *map(int, numbers)) for name, *numbers in rows]
    (last,) = [n for n, one in enumerate(found) if one.name == "main"][-1:] or [-1]
    before = [n for n, one in enumerate(found[: max(last, 0)]) if one.name == "main"]
    return found[before[-1] + 1 if before else 0 : last + 1]


def rounds(lines: list[str]) -> dict[str, Rounds]:
    rows = [match.groups() for line in lines if (match := PROGRAM.search(line))]
    return {name: Rounds(name, *(int(one or 0) for one in numbers)) for name, *numbers in rows}


@dataclass(frozen=True)
class Given:
    """The last `vcpus` shows that each VCPU has had its budgets, but for the main program's, which sleeps, and that no loop has missed a period."""

    sandbox: str
    vcpus: int  # besides the main program's
    late_us: int = 0  # most by which decisions come late, all in all
    awaited: ClassVar[bool] = True
    ends: ClassVar[bool] = False

    def verdict(self, seen: "Observation") -> str | None:
        told = shares(seen.lines[self.sandbox])
        programs = rounds(seen.lines[self.sandbox])
        if len(told) != self.vcpus + 1 or len(programs) < len({one.name for one in told}) - 1:
            return f"{self.sandbox} never told what {self.vcpus} VCPUs were given"
        wrong = [said for one in told if one.name not in ("main", "loop") and (said := one.wrong(self.late_us + ROUNDED_US))]
        wrong += [said for one in told if one.name == "loop" and (said := late_loop(one, programs["loop"]))]
        # Each is told of in turn, and `main`, which tells, last; it was made first.
        if sum(one.given + one.background for one in told) > told[-1].elapsed + len(told) * ROUNDED_US:
            wrong.append("more was given than time went by")
        return f"{self.sandbox}: {'; '.join(wrong)}" if wrong else None


def late_loop(share: Share, program: Rounds) -> str | None:
    """A round for each period that is over; its first begins a period after the VCPU is made."""
    least = share.elapsed // share.period - 2
    if program.missed or program.count < least:
        return f"loop has begun {program.count} rounds, not {least}, and missed {program.missed}"
    return None
