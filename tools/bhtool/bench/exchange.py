# SPDX-License-Identifier: Apache-2.0
"""Messages between threads on VCPUs that have little time, in two sandboxes: how long they take, over many phases of the one against the other.

The probe sends and answers (tests/guests/probe/exchange.c), and only while its VCPUs have budget. Times are of the clock that both share, on a machine that
counts instructions: there its cores run in turns, and one that executes makes the other's time pass. So a message takes what both ends execute, and more than
on two cores that run at once.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bhtool.bench.between import FAR, NEAR, lines_of, stage_of
from bhtool.bench.result import Row
from bhtool.bench.stage import out_of_time
from bhtool.errors import BulkheadError
from bhtool.image.payloads import Report
from bhtool.platforms import Platform

SCALE_NS = 10_000  # a millisecond of the papers, divided by 100
POLL_NS = 10_000
SEED = 20140301
GROWTH = 4  # tests/guests/probe/exchange.c: from size to size
SLOT_BYTES = 4096
ACKNOWLEDGED = 64  # bytes of an answer that says no more than that
SECONDS_A_TRIAL, SECONDS_AT_LEAST = 2.0, 300.0  # of the host, at most

ANSWER = re.compile(r": exchange (\d+): (one way|there and back) min (\d+) median (\d+) max (\d+) mean (\d+) of (\d+)$")
DONE, FAILED = ": exchange done", ": exchange: "


@dataclass(frozen=True)
class Vcpu:
    """A budget in each period."""

    budget_ns: int
    period_ns: int

    @classmethod
    def of_paper(cls, budget: int, period: int) -> "Vcpu":
        """In milliseconds, as the papers have it."""
        return cls(budget * SCALE_NS, period * SCALE_NS)

    def __str__(self) -> str:
        return f"{self.budget_ns / SCALE_NS:g}/{self.period_ns / SCALE_NS:g}"


@dataclass(frozen=True)
class Exchange:
    """`sizes`: bytes of a message, each four times the one before. `shell`: a VCPU before both, on both cores, whose thread never waits."""

    sender: Vcpu
    receiver: Vcpu
    sizes: Sequence[int]
    answer: int = ACKNOWLEDGED
    shell: Vcpu | None = None

    def arguments(self, vcpu: Vcpu, trials: int) -> str:
        shell = [f"exchange-shell={self.shell.budget_ns},{self.shell.period_ns}"] if self.shell else []
        own = f"exchange-vcpu={vcpu.budget_ns},{vcpu.period_ns},{POLL_NS}"
        return " ".join([*shell, own, f"exchange-answer={self.answer},{SEED}", f"exchange={self.sizes[0]},{self.sizes[-1]},{trials}"])


@dataclass(frozen=True)
class Times:
    """Of a size, in ns: until the receiver has used the last word, and until the sender has used its answer."""

    one_way: Row
    both: Row


def predicted(exchange: Exchange, size: int) -> int | None:
    """The longest that a message of this size and its answer may take. None: nothing is predicted yet."""
    return None


def heard(lines: Iterable[str], sizes: Sequence[int]) -> dict[int, Times]:
    """Of what both ends say."""
    found: dict[tuple[int, str], Row] = {}
    done = 0
    for line in lines:
        if answer := ANSWER.search(line):
            size, what, low, middle, high, _, n = answer.groups()
            found[int(size), what] = Row(what, "ns", int(n), int(low), int(middle), int(high))
        elif FAILED in line:
            raise BulkheadError(f"the probe cannot measure: {line}")
        done += line.endswith(DONE)
        if done == len((NEAR, FAR)):
            return {size: Times(found[size, "one way"], found[size, "there and back"]) for size in sizes}
    raise out_of_time("exchanging messages", SECONDS_AT_LEAST)


def exchange_times(platform: Platform, exchange: Exchange, trials: int, report: Report) -> dict[int, Times]:
    """By size. `platform`: one that counts (`stage.counting`)."""
    near, far = exchange.arguments(exchange.sender, trials), exchange.arguments(exchange.receiver, trials)
    stage = stage_of(platform, near, far, report)
    report(f"measuring on {platform.name}: {trials:,} exchanges of each size, VCPUs {exchange.sender} and {exchange.receiver}")
    limit = max(SECONDS_AT_LEAST, SECONDS_A_TRIAL * trials)
    return heard(lines_of(stage, limit), exchange.sizes)
