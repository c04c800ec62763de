# SPDX-License-Identifier: Apache-2.0
"""A trace against a simulation: the scheduler's files on this machine are told what the traced core was told, and when, and must decide the same.

Taken from the trace: when a VCPU was ready, when none of its threads was, what was excepted for an interrupt, and at which ticks the core asked.
Compared, to the tick: who runs from then on, in the foreground or not, what it has left, and of who was charged the last entry of its list, from
when on it may run and what it has left. The moment at which a core asks for no other reason is that until which the simulation let who ran go on,
and as much later as an interrupt takes to come there.

A READY record is written some instructions after the scheduler was told, and says from when on the VCPU has budget: that is when it was told, if it had some.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bhtool.paths import ROOT
from bhtool.trace.rings import Record, Trace, lib

SOURCES = ("tests/emulated/replay.c", *(f"kernel/sched/{name}.c" for name in ("deadlines", "heap", "sched", "sporadic", "pibs", "ranks")))
OF_DECISIONS = (lib.BH_TRACE_REPLENISH, lib.BH_TRACE_USED_UP, lib.BH_TRACE_CHARGED, lib.BH_TRACE_VCPU)


def built(folder: Path) -> Path:
    program = folder / "replay"
    command = ["clang-19", "-std=c17", "-O1", "-Wall", "-Werror", f"-I{ROOT}", *(str(ROOT / one) for one in SOURCES), "-o", str(program)]
    subprocess.run(command, check=True, timeout=120)
    return program


@dataclass
class Decision:
    """What the trace tells of one: its records have one clock. `due`: nothing but time called for it."""

    at: int
    due: bool
    records: dict[int, Record] = field(default_factory=dict)  # by kind

    def differs(self, answer: "Answer") -> str | None:
        """Of what was written down, what the simulation has otherwise."""
        told = {kind: (one.who, one.a, one.b) for kind, one in self.records.items()}
        said = answer.records(self.at)
        missing = said.keys() - told.keys() - {lib.BH_TRACE_VCPU}  # which is written only where it is another than before
        wrong = {kind: (told.get(kind), said.get(kind)) for kind in told.keys() | missing if told.get(kind) != said.get(kind)}
        return f"at {self.at}: {wrong}, as (trace, simulation) by kind" if wrong else None


@dataclass(frozen=True)
class Answer:
    """The simulation's, as replay.c prints it."""

    charged_ready: bool  # who was charged; not of replay.c
    runs: int
    foreground: int
    left: int
    until: int
    charged: int
    amount: int
    back_at: int
    next_at: int
    charged_left: int

    def records(self, at: int) -> dict[int, tuple[int, int, int]]:
        """What kernel/core/trace_sched.c would write."""
        found = {int(lib.BH_TRACE_VCPU): (self.runs, self.left if self.runs else 0, self.foreground)}
        if self.charged and self.back_at > at:
            found[int(lib.BH_TRACE_REPLENISH)] = (self.charged, self.amount, self.back_at)
        if self.charged and self.charged_ready and self.next_at > at:
            found[int(lib.BH_TRACE_USED_UP)] = (self.charged, self.next_at, 0)
        elif self.charged:
            found[int(lib.BH_TRACE_CHARGED)] = (self.charged, self.charged_left, 0)
        return found


def woke(record: Record) -> int:
    """When the scheduler was told that the VCPU of this READY record has a thread, where that matters: budget that had come is as if it came then."""
    return min(record.a, record.clock)


@dataclass
class Script:
    lines: list[str] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    sleepers: list[frozenset[int]] = field(default_factory=list)  # at each decision: who is not ready


def script(trace: Trace, records: tuple[Record, ...]) -> Script:
    """What replay.c is told."""
    made = Script([f"vcpu {row} {one.budget} {one.period}" for row, one in sorted(trace.vcpus.items())])
    ready: set[int] = set()
    due = True
    for record in records:
        if record.kind in OF_DECISIONS:
            if not made.decisions or made.decisions[-1].at != record.clock or record.kind in made.decisions[-1].records:
                made.decisions.append(Decision(record.clock, due))
                made.sleepers.append(frozenset(trace.vcpus.keys() - ready))
                made.lines.append(f"decide {record.clock}")
                due = True
            made.decisions[-1].records[record.kind] = record
        elif record.kind == lib.BH_TRACE_EXCEPTED:
            made.lines.append(f"except {record.clock - record.a} {record.clock} {record.who}")
        elif record.kind == lib.BH_TRACE_READY:
            made.lines.append(f"ready {record.who} {woke(record)}")
            ready.add(record.who)
            due = False
        elif record.kind == lib.BH_TRACE_SLEEP:
            made.lines.append(f"sleep {record.who} {record.clock}")
            ready.discard(record.who)
            due = False
    return made


def answers(program: Path, made: Script) -> Iterator[Answer]:
    done = subprocess.run([program], input="\n".join(made.lines) + "\n", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    for line, sleepers in zip(done.stdout.splitlines(), made.sleepers, strict=True):
        numbers = list(map(int, line.split()))
        yield Answer(numbers[4] not in sleepers, *numbers)


@dataclass
class Agreement:
    decisions: int = 0
    due: int = 0  # those that nothing but time called for
    latest: int = 0  # ticks by which one came after its moment
    wrong: list[str] = field(default_factory=list)

    def judge_moment(self, decision: Decision, until: int, latency: int) -> None:
        late = decision.at - until
        self.due += decision.due
        self.latest = max(self.latest, late)
        if late > latency or (decision.due and late < 0):
            self.wrong.append(f"at {decision.at}: {late} ticks after {until}, until when the simulation lets who ran go on")


def agreement(program: Path, trace: Trace, latency: int) -> Agreement:
    """Of the first core of a trace that has lost nothing. `latency`: most ticks from a moment to its decision, once all VCPUs are made.

    The last decision is not judged: the machine may have been stopped between its records.
    """
    records = trace.rings[0].records
    made, found = script(trace, records), Agreement()
    start = max(next(one.clock for one in records if one.who == row) for row in trace.vcpus) + latency
    until: int | None = None
    for decision, answer in list(zip(made.decisions, answers(program, made), strict=True))[:-1]:
        found.decisions += 1
        if said := decision.differs(answer):
            found.wrong.append(said)
        if until is not None and decision.at > start:
            found.judge_moment(decision, until, latency)
        until = answer.until
    return found
