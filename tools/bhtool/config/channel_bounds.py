# SPDX-License-Identifier: Apache-2.0
"""Bounds on how long an exchange by a channel takes, whatever the phases of both ends' VCPUs. docs/channel-bounds.md has the derivations.

An exchange is a row of *stages*: an end does some work, and the other one, which has polled, goes on from there. Times and work are ticks of any one
clock; nothing here knows of partition files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

Side = Literal[0, 1]


@dataclass(frozen=True)
class Supply:
    """What a Main VCPU surely has while its thread is ready: the budget C of each period T, by `response` R after it is due, and of each C ticks in a row
    `usable` ones, U."""

    budget: int
    period: int
    response: int
    usable: int

    def __post_init__(self) -> None:
        if not 0 < self.usable <= self.budget <= self.response <= self.period:
            raise ValueError(f"not 0 < usable <= budget <= response <= period: {self}")

    @property
    def blackout(self) -> int:
        """(T - C) + (R - C) + (C - U): the longest time without any usable tick."""
        return self.period + self.response - self.budget - self.usable

    def latest(self, work: int) -> int:
        """The least span of which every one has so many usable ticks, however the budget is divided."""
        if work == 0:
            return 0
        whole = (work - 1) // self.usable
        return self.blackout + whole * self.period + work - whole * self.usable

    def most(self, span: int) -> int:
        """The most ticks that any span has, overruns included."""
        whole, rest = divmod(span + self.response - self.budget, self.period)
        return min(span, whole * self.budget + min(self.budget, rest) + self.budget - self.usable)


def supply(budget: int, period: int, response: int | None = None, lost: int = 0) -> Supply:
    """Of a VCPU that is done with its budget by `response`, the first of its core if None, and loses so much of each budget to its kernel."""
    return Supply(budget, period, budget if response is None else response, budget - lost)


@dataclass(frozen=True)
class Stage:
    side: Side
    work: int


Exchange = Sequence[Stage]


def request_and_reply(
    sends: Callable[[int], int], takes: Callable[[int], int], request: int, reply: int, slot: int, service: int
) -> list[Stage]:
    """By a channel with one slot for each way: N bytes, in as many messages as they need, K, and M bytes likewise. An end sends the next message when it
    has found the one before it taken. Any N and M, M > N > B, too; M = 0: no reply, nothing to wait for.

    sends, takes: what a message of so many bytes costs who sends and who takes it.
    """
    stages: list[Stage] = []
    for size in message_sizes(request, slot):
        stages += [Stage(0, sends(size)), Stage(1, takes(size))]
    replies = message_sizes(reply, slot) if reply else []
    served = stages.pop().work + service
    for size in replies:
        stages += [Stage(1, served + sends(size)), Stage(0, takes(size))]
        served = 0
    return stages if replies else [*stages, Stage(1, served)]


def message_sizes(size: int, slot: int) -> list[int]:
    """Of a transaction's messages; an empty one is one message."""
    whole, rest = divmod(size, slot)
    return [slot] * whole + ([rest] if rest or not whole else [])


def through_ring(sends: Callable[[int], int], takes: Callable[[int], int], size: int, slot: int, slots: int, service: int) -> list[Stage]:
    """Of N bytes one way by a ring: never slower than batches of a ring at once, each sent when the one before it is taken."""
    sizes = message_sizes(size, slot)
    batches = [sizes[at : at + slots] for at in range(0, len(sizes), slots)]
    return [
        stage
        for batch in batches
        for stage in (Stage(0, sum(map(sends, batch))), Stage(1, sum(takes(one) + service for one in batch)))
    ]  # fmt: skip


def added(ends: tuple[Supply, Supply], exchange: Exchange) -> int:
    """Each stage begins when its VCPU has just had its budget: with R = C, nothing lost, and one slot, equations (2) and (4)."""
    return sum(count * ends[one.side].latest(one.work) for one, count in Counter(exchange).items())


def seen_by(ends: tuple[Supply, Supply], exchange: Exchange, side: Side) -> int:
    """From its first stage to its last, an end's VCPU has what these need, and what it polls away meanwhile, in one span."""
    own = [n for n, one in enumerate(exchange) if one.side == side]
    if not own:
        return added(ends, exchange)
    first, last = own[0], own[-1]
    needed = 0
    for one, count in Counter(exchange[first : last + 1]).items():
        needed += count * (one.work if one.side == side else ends[side].most(ends[one.side].latest(one.work)))
    return added(ends, exchange[:first]) + ends[side].latest(needed) + added(ends, exchange[last + 1 :])


def bound(ends: tuple[Supply, Supply], exchange: Exchange) -> int:
    """What Bulkhead enforces. Holds for budgets in any number of pieces, that is, for threads that slept before as they liked."""
    return min(added(ends, exchange), seen_by(ends, exchange, 0), seen_by(ends, exchange, 1))


# ---- budgets in one piece -------------------------------------------------------------------------------------------------------


PHASES = 1024  # of an end's period that are looked at; others add a step of them at most


def _done(one: Supply, start: int, work: int) -> int:
    """The latest end of some work that is begun at `start`, if the VCPU's periods begin at multiples of T, and what could be had before is gone."""
    if work == 0:
        return start
    ticks = work + -(-work // one.usable) * (one.budget - one.usable)
    whole, phase = divmod(start, one.period)
    left = max(0, one.budget - phase)
    if ticks <= left:
        return whole * one.period + one.response - left + ticks
    more = (ticks - left - 1) // one.budget
    return (whole + 1 + more) * one.period + one.response - one.budget + ticks - left - more * one.budget


def _polling_seen_by(ends: tuple[Supply, Supply], exchange: Exchange, side: Side) -> int:
    """Of the other end nothing is known but `latest`; this one's periods are laid down, and each phase of its begin is tried."""
    own = [n for n, one in enumerate(exchange) if one.side == side]
    if not own:
        return added(ends, exchange)
    first, last = own[0], own[-1]
    mine, other = ends[side], cache(ends[1 - side].latest)
    step = -(-mine.period // PHASES)
    longest = 0
    for phase in range(0, mine.period + step, step):
        time = phase
        for one in exchange[first : last + 1]:
            time = _done(mine, time, one.work) if one.side == side else time + other(one.work)
        longest = max(longest, time - phase + step - 1)
    return added(ends, exchange[:first]) + longest + added(ends, exchange[last + 1 :])


def polling_bound(ends: tuple[Supply, Supply], exchange: Exchange) -> int:
    """Of ends that have polled since they began, so that each has its budget in one piece. Tighter where there are many stages."""
    return min(bound(ends, exchange), _polling_seen_by(ends, exchange, 0), _polling_seen_by(ends, exchange, 1))
