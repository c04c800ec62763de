# SPDX-License-Identifier: Apache-2.0
"""Admission of VCPUs: can all VCPUs of a core be given what they are promised? docs/admission.md has the derivations.

Exact numbers throughout. The sandbox kernel answers the same questions in 64 bits (kernel/sched/admission.c).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from math import ceil

MOST_TICKS = 1 << 44  # of a period, as in the kernel
MOST_OF_EACH = 64  # VCPUs, top halves, as there
MOST_STEPS = 10_000  # towards a response time, as in the kernel; what takes more is refused
FIRST_DEADLINES = 1_000  # of so many that they cannot all be looked at
MOST_DEADLINES = 100_000  # likewise; the kernel looks at fewer of them, but not always at fewer than its limit


class TooLong(Exception):
    """An answer that takes more steps than anybody waits for: a refusal."""


class BadReservation(ValueError):
    """What is wrong, and with which VCPU or top half."""


@dataclass(frozen=True)
class MainVcpu:
    budget: int
    period: int
    blocking: int = 0

    @property
    def utilization(self) -> Fraction:
        return Fraction(self.budget, self.period)

    @property
    def bound_share(self) -> Fraction:
        return self.utilization

    def work(self, span: int) -> int:
        """Most that it runs in a span which begins when it has nothing to do."""
        return -(-span // self.period) * self.budget

    def complaint(self) -> str:
        return "" if 0 < self.budget <= self.period else f"budget {self.budget} is not in 1 .. {self.period}, its period"


@dataclass(frozen=True)
class IoVcpu:
    percent: int
    period: int  # by which it has its rank; whom it serves with a longer one has the budget of this one
    blocking: int = 0

    @property
    def utilization(self) -> Fraction:
        return Fraction(self.percent, 100)

    @property
    def bound_share(self) -> Fraction:
        return (2 - self.utilization) * self.utilization

    @property
    def budget(self) -> int:
        return self.period * self.percent // 100

    def work(self, span: int) -> int:
        """At its rate until one whole budget ends the span."""
        return self.budget + max(0, span - self.budget) * self.percent // 100

    def complaint(self) -> str:
        if not 0 < self.percent <= 100:
            return f"percentage {self.percent} is not in 1 .. 100"
        return "" if self.budget else f"{self.percent} percent of its period {self.period} is no whole tick"


Vcpu = MainVcpu | IoVcpu


def _complaint(vcpu: Vcpu, switch_cost: int) -> str:
    if not 0 < vcpu.period <= MOST_TICKS:
        return f"period {vcpu.period} is not in 1 .. {MOST_TICKS}"
    if text := vcpu.complaint():
        return text
    if vcpu.budget < switch_cost:
        return f"budget {vcpu.budget} is below {switch_cost}, what a switch costs"
    return "" if 0 <= vcpu.blocking <= MOST_TICKS else f"blocking {vcpu.blocking} is not in 0 .. {MOST_TICKS}"


@dataclass(frozen=True)
class TopHalf:
    """It runs once in each distance, and once more at any time."""

    distance: int
    cost: int

    def complaint(self) -> str:
        if not 0 < self.distance <= MOST_TICKS:
            return f"distance {self.distance} is not in 1 .. {MOST_TICKS}"
        return "" if 0 < self.cost <= self.distance else f"cost {self.cost} is not in 1 .. {self.distance}, its distance"


@dataclass(frozen=True)
class Reservations:
    """Of one core. VCPUs by rank."""

    vcpus: tuple[Vcpu, ...]
    top_halves: tuple[TopHalf, ...] = ()
    switch_cost: int = 0

    @property
    def mains(self) -> list[MainVcpu]:
        return [one for one in self.vcpus if isinstance(one, MainVcpu)]

    @property
    def late_by_deadline(self) -> int:
        """Each VCPU but the one that misses its deadline may stop late, time out and be replenished; one that runs at first may stop late."""
        return self.switch_cost * max(3 * len(self.vcpus) - 2, 0)

    @property
    def constant(self) -> int:
        """By deadline: what top halves take at once, begun distances and the once more; late ends, time-outs and replenishments; blocking."""
        blocking = max((one.blocking for one in self.vcpus), default=0)
        return sum(2 * one.cost for one in self.top_halves) + self.late_by_deadline + blocking

    @property
    def exact(self) -> bool:
        """Nothing here is counted at more than can happen."""
        return not self.top_halves and not self.switch_cost and not any(one.blocking for one in self.vcpus) and self.mains == [*self.vcpus]

    def check(self) -> None:
        """Raises BadReservation."""
        for what, things in (("VCPUs", self.vcpus), ("top halves", self.top_halves)):
            if len(things) > MOST_OF_EACH:
                raise BadReservation(f"{len(things)} {what} are more than {MOST_OF_EACH}")
        for n, vcpu in enumerate(self.vcpus):
            if text := _complaint(vcpu, self.switch_cost):
                raise BadReservation(f"VCPU {n}: {text}")
        for n, top_half in enumerate(self.top_halves):
            if text := top_half.complaint():
                raise BadReservation(f"top half {n}: {text}")

    def top_half_work(self, span: int) -> int:
        return sum((-(-span // one.distance) + 1) * one.cost for one in self.top_halves)


# ---- by rank ------------------------------------------------------------------------------------------------------------------


def bound_allows(asked: Fraction, mains: int) -> bool:
    """asked <= n (2^(1/n) - 1), without a root: (1 + asked / n)^n <= 2."""
    return (1 + asked / mains) ** mains <= 2 if mains else asked <= 1


def overhead(core: Reservations, rank: int, span: int) -> int:
    """What does not depend on how long the others run. Those before it stop late and time out, one that runs at first stops late, and those
    after it time out."""
    return core.vcpus[rank].blocking + core.switch_cost * (len(core.vcpus) + rank) + core.top_half_work(span)


def bound_asked(core: Reservations) -> Fraction:
    """Left side of the utilization bound."""
    extra = [Fraction(overhead(core, rank, one.period), one.period) for rank, one in enumerate(core.vcpus) if isinstance(one, MainVcpu)]
    return sum((one.bound_share for one in core.vcpus), Fraction(0)) + max(extra, default=Fraction(0))


def bound_applies(core: Reservations) -> bool:
    """No Main VCPU comes after one that has a longer period."""
    return all(
        before.period <= one.period for rank, one in enumerate(core.vcpus) if isinstance(one, MainVcpu) for before in core.vcpus[:rank]
    )


def admitted_by_bound(core: Reservations) -> bool:
    return bound_applies(core) and bound_allows(bound_asked(core), len(core.mains))


def demand(core: Reservations, rank: int, span: int) -> int:
    """What has to be done in a span at whose end the VCPU has just had its budget."""
    return core.vcpus[rank].budget + overhead(core, rank, span) + sum(one.work(span) for one in core.vcpus[:rank])


def response_time(core: Reservations, rank: int) -> int | None:
    """The least span that has room for all that has to be done in it; None: it is longer than the period. Raises TooLong.

    What has to be done never falls with the span, so no span below what has to be done in a shorter one has room.
    """
    span = 1
    for _ in range(MOST_STEPS):
        needed = demand(core, rank, span)
        if needed <= span:
            return span
        if needed > core.vcpus[rank].period:
            return None
        span = needed
    raise TooLong(f"no response time of VCPU {rank} found in {MOST_STEPS} steps")


@dataclass(frozen=True)
class Verdict:
    admitted: bool
    exact: bool
    asked: Fraction
    text: str = ""  # why not
    late: int | None = None  # the deadline that is missed
    is_undecided: bool = False  # it takes too long to find out


def judge_by_rank(core: Reservations) -> Verdict:
    """Admitted if the bound admits, or response-time analysis does."""
    core.check()
    asked = bound_asked(core)
    try:
        late = next((rank for rank in range(len(core.vcpus)) if response_time(core, rank) is None), None)
        text = "" if late is None else f"VCPU {late} cannot have {core.vcpus[late].budget} in each {core.vcpus[late].period}"
        is_undecided = False
    except TooLong as long:
        text, is_undecided = str(long), True
    admitted = not text or admitted_by_bound(core)
    return Verdict(admitted, core.exact, asked, "" if admitted else text, is_undecided=is_undecided and not admitted)


# ---- by deadline --------------------------------------------------------------------------------------------------------------


def demand_until(core: Reservations, time: int) -> int:
    """What has to be done by a deadline, and what may come between."""
    blocking = max((one.blocking for one in core.vcpus if one.period <= time), default=0)
    return sum(time // one.period * one.budget for one in core.vcpus) + blocking + core.late_by_deadline + core.top_half_work(time)


def first_late_deadline(core: Reservations) -> int | None:
    """The first deadline by which too much has to be done; None: there is none. Raises TooLong."""
    periods = [one.period for one in core.vcpus]
    last = max(periods)
    rest = 1 - _used(core)
    if core.constant:
        last = max(last, ceil(core.constant / rest))
    deadlines = heapq.merge(*(range(one, last + 1, one) for one in periods))
    most = MOST_DEADLINES if last // min(periods) <= MOST_DEADLINES else FIRST_DEADLINES
    for count, (time, _) in enumerate(groupby(deadlines)):
        if demand_until(core, time) > time:
            return time
        if count == most:
            raise TooLong(f"there are more than {MOST_DEADLINES} deadlines to look at")
    return None


def _used(core: Reservations) -> Fraction:
    return sum((one.utilization for one in core.vcpus), Fraction(0)) + sum(
        (Fraction(t.cost, t.distance) for t in core.top_halves), Fraction(0)
    )


def _overload(used: Fraction) -> str:
    return (
        f"VCPUs and interrupts take {float(used):.1%}, more than there is"
        if used > 1
        else "VCPUs and interrupts take all of it, and switches come on top"
    )


def judge_by_deadline(core: Reservations) -> Verdict:
    core.check()
    used = _used(core)
    if core.mains != [*core.vcpus]:
        return Verdict(False, False, used, "no test by deadline is known for I/O VCPUs")
    if used > 1 or (used == 1 and core.constant):
        return Verdict(False, core.exact, used, _overload(used))
    if not core.vcpus:
        return Verdict(True, core.exact, used)
    try:
        late = first_late_deadline(core)
    except TooLong as many:
        return Verdict(False, False, used, str(many), is_undecided=True)
    text = "" if late is None else f"by {late} there is work for {demand_until(core, late)}"
    return Verdict(late is None, core.exact, used, text, late)


# ---- what would fit -----------------------------------------------------------------------------------------------------------


def largest_fit(core: Reservations, rank: int, judge: Callable[[Reservations], Verdict] = judge_by_rank) -> int:
    """The largest budget, or percentage, with which this VCPU and the others are admitted; 0: none."""
    vcpu = core.vcpus[rank]
    least = max(1, core.switch_cost)
    is_main = isinstance(vcpu, MainVcpu)
    amounts = range(least, vcpu.period + 1) if is_main else range(ceil(Fraction(100 * least, vcpu.period)), 101)
    return last_true(amounts, lambda amount: judge(with_amount(core, rank, amount)).admitted)


def with_amount(core: Reservations, rank: int, amount: int) -> Reservations:
    vcpu = core.vcpus[rank]
    other: Vcpu = replace(vcpu, budget=amount) if isinstance(vcpu, MainVcpu) else replace(vcpu, percent=amount)
    return replace(core, vcpus=(*core.vcpus[:rank], other, *core.vcpus[rank + 1 :]))


def last_true(amounts: Sequence[int], fits: Callable[[int], bool]) -> int:
    """The last of those that fit, which are the first ones; 0: none does."""
    low, high = 0, len(amounts)
    while low < high:
        middle = (low + high) // 2
        if fits(amounts[middle]):
            low = middle + 1
        else:
            high = middle
    return amounts[low - 1] if low else 0
