# SPDX-License-Identifier: Apache-2.0
"""What is predicted of each channel of a partition file: whose VCPUs its ends have, what its messages cost there, and how long they take at most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain, product
from math import ceil
from pathlib import Path

from bhtool.abi import lib
from bhtool.config import channel_paper as paper
from bhtool.config.admission import BadReservation, Reservations, TooLong, admitted_by_bound, response_time
from bhtool.config.channel_bounds import Supply, bound, request_and_reply
from bhtool.config.channels import MAILBOX, RING, Channel
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.doorbells import gap_us, rings_of
from bhtool.config.machine import Costs
from bhtool.config.plan import ChannelDelay
from bhtool.config.schedulability import NS_PER_US, CoreSet, core_sets
from bhtool.config.vcpus import RELAY, SENT_ON, SINK, SOURCE, Vcpu, is_main, is_own_kernel
from bhtool.text import did_you_mean

LOST_POLLING = 3  # switches that a budget pays in each period: docs/channel-bounds.md
LOST_A_SLEEP = 2  # for each time that its thread sleeps
LOOK_NS = 100_000_000  # who sleeps until it is rung looks all the same: kernel/core/channel_calls.c
MOST_SLEEPS = 15  # in a period: a budget comes back in one part more, and in no more than 16 (kernel/sched/sporadic.h)
BYTES_IN_A_SWITCH = 32
# Of the kernel that comes with the tool: they look once in a period of their VCPU, and a relay sends what it takes on in a channel of its own.
SLEEPING_PROGRAMS = (RELAY, SINK, SOURCE)


@dataclass(frozen=True)
class ChannelCosts:
    """In ns, margins included: of a message at either end besides its bytes, with one look before that came just too soon; and of 32 bytes."""

    message: int
    bytes32: int

    def of(self, size: int) -> int:
        return self.message + ceil(Fraction(size * self.bytes32, BYTES_IN_A_SWITCH))

    @property
    def per_byte(self) -> Fraction:
        return Fraction(self.bytes32, BYTES_IN_A_SWITCH)


def costs_of(costs: Costs) -> ChannelCosts:
    """As admission counts a switch on this platform: a message is fewer instructions, and so are 32 bytes with their CRC."""
    return ChannelCosts(costs.switch, costs.switch)


@dataclass(frozen=True)
class End:
    """A channel's end whose VCPU is known, with the set of its core."""

    sandbox: Sandbox
    vcpu: Vcpu
    core: CoreSet
    sleeps: bool  # between two looks, for a period of its VCPU at most
    gap: int = 0  # of one that sleeps until it is rung: between two rings, at least; 0: it is not

    @property
    def rank(self) -> int:
        return next(rank for rank, one in enumerate(self.core.vcpus) if one is self.vcpu)

    @property
    def budget(self) -> int:
        return self.core.reservations.vcpus[self.rank].budget

    @property
    def period(self) -> int:
        return self.core.reservations.vcpus[self.rank].period

    @property
    def times_asleep(self) -> int:
        """In a period, at most: until the next ring, or until it looks by itself."""
        if self.sleeps or not self.gap:
            return 1 if self.sleeps else 0
        return ceil(Fraction(self.period, self.gap)) + 1 + self.period // LOOK_NS + 1

    @property
    def lost(self) -> int:
        """Of each budget, to switches."""
        return self.core.costs.switch * (LOST_POLLING + LOST_A_SLEEP * self.times_asleep)

    @property
    def pause(self) -> int:
        """Who is rung hears of a message at the next ring that is granted: a timer's interrupt at the other end and an exit, an interrupt here and a switch."""
        rung = self.gap + 2 * (self.core.costs.top_half + self.core.costs.switch) if self.gap else 0
        return self.period if self.sleeps else rung

    @property
    def relays(self) -> bool:
        return self.sleeps and self.vcpu.program == RELAY

    def with_period(self, period: int) -> End:
        """Its core, if its VCPU had that period; of equal ones the first that is made comes first."""
        made = {id(one): n for n, one in enumerate((None, *self.sandbox.vcpus))}
        pairs = [
            (one, replace(each, period=period) if one is self.vcpu else each)
            for one, each in zip(self.core.vcpus, self.core.reservations.vcpus, strict=True)
        ]
        pairs.sort(key=lambda pair: (pair[1].period, made[id(pair[0])]))
        reservations = replace(self.core.reservations, vcpus=tuple(each for _, each in pairs))
        return replace(self, core=replace(self.core, vcpus=tuple(one for one, _ in pairs), reservations=reservations))

    @cached_property
    def supply(self) -> Supply | None:
        """None: it is not known to have its budget in its period, or nothing of that is left for its thread."""
        response = _response(self.core, self.core.reservations, self.rank)
        usable = self.budget - self.lost
        return Supply(self.budget, self.period, response, usable) if response and usable > 0 else None


def _response(core: CoreSet, reservations: Reservations, rank: int) -> int | None:
    """By deadline, and where the bound alone admits, the period: it is in time, and no more is known."""
    try:
        if not core.judge(reservations).admitted:
            return None
        return reservations.vcpus[rank].period if core.edf else response_time(reservations, rank) or reservations.vcpus[rank].period
    except TooLong:
        return reservations.vcpus[rank].period if admitted_by_bound(reservations) else None
    except BadReservation:
        return None


def has_own_kernel(sandbox: Sandbox) -> bool:
    return is_own_kernel(sandbox.node.text("image"), Path(sandbox.where("image").file))


def vcpu_of(sandbox: Sandbox, channel: Channel, side: int) -> Vcpu | None:
    """On whose budget the channel's end there runs."""
    relays = (one for one in sandbox.vcpus if has_own_kernel(sandbox) and one.program == RELAY and one.name + SENT_ON == channel.name)
    named = (one for one in sandbox.vcpus if one.name == channel.name)
    return next(named if side else chain(relays, named), None)


def end_of(domains: Domains, channel: Channel, side: int) -> End | str:
    """Or why there is no bound."""
    sandbox = domains.other_end(channel, 1 - side)
    if sandbox.is_linux:
        return f"`{sandbox.name}` runs Linux, which schedules its cores by itself"
    vcpu = vcpu_of(sandbox, channel, side)
    if vcpu is None:
        meant = did_you_mean(channel.name, [one.name for one in sandbox.vcpus if is_main(one)])
        return f"`{sandbox.name}` has no VCPU that is called `{channel.name}`{meant}, so on whose budget its end runs is not known"
    if not is_main(vcpu):
        return f"`{channel.name}` of `{sandbox.name}` is not a Main VCPU, which alone has a budget in each of its periods"
    core = next(
        (one for one in core_sets(sandbox, domains.machine.costs, rings_of(domains, sandbox)) if any(each is vcpu for each in one.vcpus)),
        None,
    )
    if core is None:
        return f"`{channel.name}` of `{sandbox.name}` has no core"
    gap = gap_us(channel, 1 - side) * NS_PER_US
    hears = gap > 0 and core.core is sandbox.cores[0] and channel.readers == 1
    sleeps = (has_own_kernel(sandbox) and vcpu.program in SLEEPING_PROGRAMS) or (
        gap > 0 and not hears
    )  # who is rung and does not hear it looks once in a period
    end = End(sandbox, vcpu, core, sleeps, 0 if sleeps else gap)
    if end.times_asleep > MOST_SLEEPS:
        often = f"may sleep {end.times_asleep:,} times in a period of VCPU `{vcpu.name}`"
        return f"`{sandbox.name}` {often}, whose budget comes back in {MOST_SLEEPS + 1} parts at most: a shorter period or fewer rings would do"
    if end.supply:
        return end
    if end.budget > end.lost:
        return f"VCPU `{vcpu.name}` of `{sandbox.name}` is not admitted on its core"
    lost = f"{end.lost // NS_PER_US:,} us of each budget are counted for switches"
    return f"VCPU `{vcpu.name}` of `{sandbox.name}` has {vcpu.budget_us:,} us in {vcpu.period_us:,} us, and {lost}"


def _us(ns: int) -> str:
    return f"{ns / NS_PER_US:,.3f}".rstrip("0").rstrip(".") + " us"


@dataclass(frozen=True)
class Prediction:
    """Of a channel with an end of either side: how long what it is for takes."""

    channel: Channel
    costs: ChannelCosts
    ends: tuple[End, End]
    sent_on: Channel | None = None  # where a relay at end 1 sends what it takes
    supposed: int = 0  # bytes of a slot; 0: as the channel has it

    @property
    def slot_bytes(self) -> int:
        return self.supposed or self.channel.slot_bytes

    def _message_of(self, size: int) -> int:
        """At either end; where ends ring it is an exit more, which takes no longer than a switch."""
        return self.costs.of(size) + (self.ends[0].core.costs.switch if any(self.channel.doorbell_hz) else 0)

    @property
    def message(self) -> int:
        return self._message_of(self.slot_bytes)

    @property
    def service(self) -> int:
        """A relay's, without being told: to send the message on, and to ring."""
        rings = self.sent_on is not None and any(self.sent_on.doorbell_hz)
        relayed = self.costs.of(self.slot_bytes) + (self.ends[1].core.costs.switch if rings else 0)
        return self.channel.service_us * NS_PER_US + (relayed if self.ends[1].relays else 0)

    @property
    def work(self) -> int:
        """All that both ends have to do, which no parameters of VCPUs make less."""
        message = self.message
        return 2 * message + self.service + (2 * message if self.channel.kind == MAILBOX else 0)

    def bound(self) -> int | None:
        pair = self.ends[0].supply, self.ends[1].supply
        if pair[0] is None or pair[1] is None:
            return None
        sender, receiver = supplies = pair[0], pair[1]
        message = self.message
        pauses = self.ends[0].pause, self.ends[1].pause
        taken = message + self.service
        if self.channel.kind == MAILBOX:
            size = self.slot_bytes
            stages = request_and_reply(self._message_of, self._message_of, size, size, size, self.service)
            added = sum(supplies[one.side].latest(one.work) for one in stages) + sum(pauses)
            return added if any(pauses) else bound(supplies, stages)
        if self.channel.kind != RING:  # the look that is going on ends, and the next one finds it
            return sender.latest(message) + 2 * receiver.latest(taken) + pauses[1]
        sent = sender.latest(message)
        ahead = self._messages(sent, receiver, taken, pauses[1])
        again = receiver.latest((self.channel.slots + 1) * taken) if ahead is None and pauses[1] else 0
        return sent + again + pauses[1] + receiver.latest((ahead or self.channel.slots) * taken)

    def at_once(self, sender: Supply, receiver: Supply) -> int:
        """How many messages may be there when one is taken, with that one."""
        if self.channel.kind != RING:
            return 1
        taken = self.message + self.service
        return self._messages(sender.latest(self.message), receiver, taken, self.ends[1].pause) or self.channel.slots

    def terms(self) -> tuple[str, ...]:
        """What the bound is made of, as docs/channel-bounds.md calls it; () if there is none."""
        pair = self.ends[0].supply, self.ends[1].supply
        if pair[0] is None or pair[1] is None:
            return ()
        ends = (
            f"`{end.sandbox.name}` has C = {_us(one.budget)}, T = {_us(one.period)}, R = {_us(one.response)}, U = {_us(one.usable)}"
            for end, one in zip(self.ends, (pair[0], pair[1]), strict=True)
        )
        pauses = (
            f"`{end.sandbox.name}` pauses for {_us(end.pause)}"
            for end in (self.ends if self.channel.kind == MAILBOX else self.ends[1:])
            if end.pause
        )
        message, served, count = _us(self.message), _us(self.service), self.at_once(pair[0], pair[1])
        return (*ends, f"a message takes {message} at either end and K = {served}", *pauses, *([f"n = {count:,}"] if count > 1 else []))

    def _messages(self, sent: int, receiver: Supply, taken: int, pause: int) -> int | None:
        """How many a ring of one who sends once in a period has at most, with the one that is looked at; None: as many as slots."""
        if not self.ends[0].sleeps:
            return None
        count = 1
        while count <= self.channel.slots:
            arrived = (pause + receiver.latest(count * taken) + sent) // self.ends[0].period + 1
            if arrived <= count:
                return count
            count = arrived
        return None

    def paper(self) -> int:
        """Equation (2) or (4), of the budgets as they are written."""
        sender, receiver = (paper.PaperEnd(one.budget, one.period, self.costs.per_byte) for one in self.ends)
        size = self.slot_bytes
        if self.channel.kind == MAILBOX:
            return ceil(paper.round_trip(sender, receiver, size, size, self.service))
        return ceil(paper.one_way(sender, receiver, size, size, self.service))


def predictions(domains: Domains) -> Iterator[tuple[Channel, Prediction | tuple[str, ...]]]:
    """Of each channel that has two ends, in the order of the file, or why there is none."""
    costs = costs_of(domains.machine.costs)
    for channel in domains.channels:
        if (
            len(channel.from_nodes) != 1
            or len(channel.to_nodes) != 1
            or not all(map(domains.sandbox_at, (*channel.from_nodes, *channel.to_nodes)))
        ):
            continue
        first, second = end_of(domains, channel, 0), end_of(domains, channel, 1)
        if isinstance(first, End) and isinstance(second, End):
            on = next((one for one in domains.channels if one.name == channel.name + SENT_ON), None)
            yield channel, Prediction(channel, costs, (first, second), on)
        else:
            of_linux = [one for side, one in enumerate((first, second)) if domains.other_end(channel, 1 - side).is_linux]
            # A Linux end is reason enough: what may be wrong at the other one, nobody need mend for a bound.
            yield channel, tuple(one for one in of_linux or (first, second) if isinstance(one, str))


def delays_of(domains: Domains) -> dict[str, ChannelDelay]:
    """By the channel's name."""
    found = {}
    for channel, one in predictions(domains):
        told = channel.deadline_us, channel.service_us
        if isinstance(one, Prediction):
            found[channel.name] = ChannelDelay(*told, one.paper(), one.bound(), (), one.terms())
        else:
            found[channel.name] = ChannelDelay(*told, None, None, one)
    return found


# ---- what would meet a deadline -------------------------------------------------------------------------------------------------


STEPS = 32  # to half of a period
COARSE_STEPS = 4  # likewise, of both ends' periods
LEAST_SLOT = int(lib.BH_CHANNEL_LINE)  # bytes, of which a slot has a multiple


def large_slots(one: Prediction) -> int:
    """The most bytes of a slot, by halves of what it has, with which the deadline is met; 0: none are."""
    size = one.slot_bytes // 2
    while size >= LEAST_SLOT:
        whole = size - size % LEAST_SLOT
        span = replace(one, supposed=whole).bound()
        if span is not None and span <= one.channel.deadline_us * NS_PER_US:
            return whole
        size //= 2
    return 0


def long_period(one: Prediction, side: int) -> int:
    """In us, of an end's VCPU, a long one with which the deadline is met and all of its core are admitted; 0: none was found below that of the file.

    Not every shorter one does: with what an end polls away while it waits, a bound may fall where its period grows.
    """
    end, deadline = one.ends[side], one.channel.deadline_us * NS_PER_US

    def meets(period_us: int) -> bool:
        other = end.with_period(period_us * NS_PER_US)
        span = replace(one, ends=(other, one.ends[1]) if side == 0 else (one.ends[0], other)).bound()
        return span is not None and span <= deadline

    late, period_us = end.vcpu.period_us, end.vcpu.period_us
    while period_us > end.vcpu.budget_us:
        period_us = max(end.vcpu.budget_us, min(late - 1, int(late * 0.5 ** (1 / STEPS))))
        if meets(period_us):
            break
        late = period_us
    else:
        return 0
    while late - period_us > 1:
        middle = (period_us + late) // 2
        period_us, late = (middle, late) if meets(middle) else (period_us, middle)
    return period_us


def long_periods(one: Prediction) -> tuple[tuple[int, int], int]:
    """In us, of both ends' VCPUs, long ones with which together the deadline is met and all of their cores are admitted, (0, 0) if none were found; and the
    least bound that was found, in ns.
    """
    deadline = one.channel.deadline_us * NS_PER_US
    bounds = {
        (first.period, second.period): span
        for first, second in product(*map(_with_shorter_periods, one.ends))
        if (span := replace(one, ends=(first, second)).bound()) is not None
    }
    met = [pair for pair, span in bounds.items() if span <= deadline]
    first, second = max(met, key=lambda pair: (pair[0] * pair[1], pair), default=(0, 0))
    return (first // NS_PER_US, second // NS_PER_US), min(bounds.values())


def _with_shorter_periods(end: End) -> list[End]:
    """And as it is: those that are admitted."""
    periods, period_us = [end.vcpu.period_us], end.vcpu.period_us
    while period_us > end.vcpu.budget_us:
        period_us = max(end.vcpu.budget_us, min(period_us - 1, int(period_us * 0.5 ** (1 / COARSE_STEPS))))
        periods.append(period_us)
    return [other for other in (end.with_period(period_us * NS_PER_US) for period_us in periods) if other.supply]
