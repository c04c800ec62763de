# SPDX-License-Identifier: Apache-2.0
"""Messages between threads on VCPUs that have little time, in two sandboxes: how long they take, over many phases of the one against the other.

The probe sends and answers (tests/guests/probe/exchange.c), and only while its VCPUs have budget. Times are of the clock that both share, on a machine that
counts instructions: there its cores run in turns, and one that executes makes the other's time pass. So a message takes what both ends execute, and more than
on two cores that run at once.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from bhtool.bench.between import CHANNELS, FAR, NEAR, lines_of, stage_of
from bhtool.bench.result import Row
from bhtool.bench.stage import out_of_time
from bhtool.config.channel_bounds import Stage, Supply, bound, request_and_reply, supply, through_ring
from bhtool.config.channel_delays import LOST_POLLING
from bhtool.config.channel_paper import PaperEnd, one_way, round_trip
from bhtool.errors import BulkheadError
from bhtool.image.payloads import Report
from bhtool.platforms import Platform

SCALE_NS = 10_000  # a millisecond of the papers, divided by 100
POLL_NS = 10_000
SEED = 20140301
GROWTH = 4  # tests/guests/probe/exchange.c: from size to size
(PAGES,) = (one for one in CHANNELS if one.name == "pages")
SLOT_BYTES, SLOTS = PAGES.slot_bytes, PAGES.slots
ACKNOWLEDGED = 64  # bytes of an answer that says no more than that
SECONDS_A_TRIAL, SECONDS_AT_LEAST = 2.0, 300.0  # of the host, at most

ANSWER = re.compile(r": exchange (\d+): (one way|there and back) min (\d+) median (\d+) max (\d+) mean (\d+) of (\d+)$")
PAGE_COSTS = re.compile(r": exchange costs: a page (\d+) copied (\d+) used$")
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
    """`sizes`: bytes of a message, each four times the one before. `shell`: a VCPU before both, on both cores, whose thread never waits.

    `poll_ns`: between two looks of who waits; 0: who waits looks all the time, as the papers' threads do, and both ends begin anywhere in their periods,
    with any part of their budgets, where else the sender alone does.
    """

    sender: Vcpu
    receiver: Vcpu
    sizes: Sequence[int]
    answer: int = ACKNOWLEDGED
    shell: Vcpu | None = None
    poll_ns: int = POLL_NS

    def pause(self, vcpu: Vcpu) -> str:
        """Before each message. The receiver is there again when the sender begins: it looks two of its periods after its answer at the latest."""
        if vcpu is self.sender:
            return f"exchange-pause={max(vcpu.period_ns, 0 if self.poll_ns else 2 * self.receiver.period_ns)},{vcpu.period_ns}"
        return f"exchange-pause=0,{0 if self.poll_ns else vcpu.period_ns}"

    def arguments(self, vcpu: Vcpu, trials: int) -> str:
        """`vcpu`: the sender or the receiver."""
        shell = [f"exchange-shell={self.shell.budget_ns},{self.shell.period_ns}"] if self.shell else []
        own = f"exchange-vcpu={vcpu.budget_ns},{vcpu.period_ns},{self.poll_ns} {self.pause(vcpu)}"
        return " ".join([*shell, own, f"exchange-answer={self.answer},{SEED}", f"exchange={self.sizes[0]},{self.sizes[-1]},{trials}"])


@dataclass(frozen=True)
class Times:
    """Of a size, in ns: until the receiver has used the last word, and until the sender has used its answer."""

    one_way: Row
    both: Row


# ---- What is predicted ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Costs:
    """In ns, one for each instruction: a page copied into its slot, one used, and a switch between VCPUs, as admission counts it."""

    copied: int
    used: int
    switch: int

    def sent(self, size: int) -> int:
        """A message at its sender: its calls, as `check` counts them, and its bytes with a quarter more."""
        return self.switch + ceil(Fraction(size * self.copied * MARGIN, SLOT_BYTES))

    def taken(self, size: int) -> int:
        return self.switch + ceil(Fraction(size * self.used * MARGIN, SLOT_BYTES))


MARGIN = Fraction(5, 4)
IN_TURNS = 2  # cores that are busy: an instruction of the one makes the other's time pass
TURNS_A_DEADLINE = 4  # the emulator's cores share the time to its next timer among them


def switch_of(platform: Platform) -> int:
    """In instructions."""
    return platform.switch_ns >> platform.emulator.icount_shift


def supply_of(vcpu: Vcpu, costs: Costs) -> Supply:
    """Of a VCPU that is alone on its core, whose thread never sleeps."""
    return supply(vcpu.budget_ns, vcpu.period_ns, lost=LOST_POLLING * IN_TURNS * costs.switch)


def stages_of(exchange: Exchange, size: int, costs: Costs) -> list[Stage]:
    """There and back within a slot; one way through a ring."""
    if exchange.answer == size:
        stages = request_and_reply(costs.sent, costs.taken, size, size, SLOT_BYTES, 0)
    else:
        stages = through_ring(costs.sent, costs.taken, size, SLOT_BYTES, SLOTS, 0)
    turn = [one.budget_ns // TURNS_A_DEADLINE for one in (exchange.sender, exchange.receiver)]
    return [Stage(one.side, IN_TURNS * one.work + turn[one.side]) for one in stages]


def predicted(exchange: Exchange, size: int, costs: Costs) -> int | None:
    """The longest that a message of this size and its answer may take, or the message alone, if the answer only says that it came. In ns.

    None: nothing is predicted of ends that sleep while they wait, more often in a period than their budgets may come back in parts.
    """
    if exchange.poll_ns:
        return None
    return bound((supply_of(exchange.sender, costs), supply_of(exchange.receiver, costs)), stages_of(exchange, size, costs))


def as_printed(exchange: Exchange, size: int, costs: Costs) -> int:
    """The papers' equation (2) or (4), which know neither switches nor cores that run in turns, with what bytes take here."""
    sender, receiver = (
        PaperEnd(one.budget_ns, one.period_ns, Fraction(IN_TURNS * max(costs.copied, costs.used), SLOT_BYTES))
        for one in (exchange.sender, exchange.receiver)
    )
    if exchange.answer == size:
        return ceil(round_trip(sender, receiver, size, size))
    return ceil(one_way(sender, receiver, size, SLOT_BYTES))


# ---- What is measured -------------------------------------------------------------------------------------------------------------


def heard(lines: Iterable[str], sizes: Sequence[int]) -> tuple[dict[int, Times], tuple[int, int]]:
    """Of what both ends say; and the most of a page copied, and of one used."""
    found: dict[tuple[int, str], Row] = {}
    copied = used = done = 0
    for line in lines:
        if answer := ANSWER.search(line):
            size, what, low, middle, high, _, n = answer.groups()
            found[int(size), what] = Row(what, "ns", int(n), int(low), int(middle), int(high))
        elif answer := PAGE_COSTS.search(line):
            copied, used = max(copied, int(answer[1])), max(used, int(answer[2]))
        elif FAILED in line:
            raise BulkheadError(f"the probe cannot measure: {line}")
        done += line.endswith(DONE)
        if done == len((NEAR, FAR)):
            return {size: Times(found[size, "one way"], found[size, "there and back"]) for size in sizes}, (copied, used)
    raise out_of_time("exchanging messages", SECONDS_AT_LEAST)


def exchange_times(platform: Platform, exchange: Exchange, trials: int, report: Report) -> tuple[dict[int, Times], Costs]:
    """By size. `platform`: one that counts (`stage.counting`)."""
    near, far = exchange.arguments(exchange.sender, trials), exchange.arguments(exchange.receiver, trials)
    stage = stage_of(platform, near, far, report)
    report(f"measuring on {platform.name}: {trials:,} exchanges of each size, VCPUs {exchange.sender} and {exchange.receiver}")
    limit = max(SECONDS_AT_LEAST, SECONDS_A_TRIAL * trials)
    times, (copied, used) = heard(lines_of(stage, limit), exchange.sizes)
    return times, Costs(copied, used, switch_of(platform))
