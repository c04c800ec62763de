# SPDX-License-Identifier: Apache-2.0
"""What the configured VCPUs ask of each core, judged by the tests of admission.py, in nanoseconds.

The set of a core is what its kernel makes there: the main program's VCPU, then those of the partition file, ranked by period; on the first core top
halves of the heartbeat, of doorbells and of lines whose rate is limited, on every core those of rings that are made again; and what a switch takes. kernel/core/admit.c makes the same of the VCPUs that it has, in ticks
of its clock. Nobody blocks: programs of configured VCPUs are compiled in, have one thread each, and share no mutex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bhtool.abi import lib
from bhtool.config.admission import (
    MOST_STEPS,
    BadReservation,
    IoVcpu,
    MainVcpu,
    Reservations,
    TooLong,
    TopHalf,
    Verdict,
    admitted_by_bound,
    bound_asked,
    demand,
    demand_until,
    judge_by_deadline,
    judge_by_rank,
    largest_fit,
    last_true,
    response_time,
)
from bhtool.config.domains import Sandbox
from bhtool.config.machine import NS_PER_S, Core, Costs
from bhtool.config.plan import CoreLoad, VcpuLoad
from bhtool.config.vcpus import HEARTBEAT_HZ, MAIN_PERIOD_US, MAIN_PROGRAM, Vcpu, period_of

NS_PER_US = 1000
WHOLE = 100  # per cent
OWN_MAIN = f"the kernel's own `{MAIN_PROGRAM}`"


def _us(span: int) -> int:
    """Of a span in ns, rounded up."""
    return -(-span // NS_PER_US)


@dataclass(frozen=True)
class CoreSet:
    """VCPUs of one core by rank; None stands for the main program's."""

    core: Core
    edf: bool
    vcpus: tuple[Vcpu | None, ...]
    lines: tuple[Vcpu, ...]  # who serves each of the last top halves
    reservations: Reservations
    costs: Costs

    def name(self, rank: int) -> str:
        vcpu = self.vcpus[rank]
        return vcpu.name if vcpu else MAIN_PROGRAM

    def shown(self, rank: int) -> str:
        vcpu = self.vcpus[rank]
        return f"`{vcpu.name}`" if vcpu else OWN_MAIN

    def judge(self, reservations: Reservations) -> Verdict:
        return (judge_by_deadline if self.edf else judge_by_rank)(reservations)


@dataclass(frozen=True)
class Miss:
    """Why a set is refused: who is late, and which VCPU of the partition file fits with which budget or percentage, if one does; and whose line, with which rate."""

    load: CoreLoad
    says: str
    vcpu: Vcpu
    fit: int
    line: Vcpu | None  # the one with the highest rate, or another that can help; None: no line has a rate
    rate_hz: int  # 0: none helps
    is_undecided: bool
    percent: int  # where nothing else helps, of each budget or percentage of the file, with which all fits; 0: none


@dataclass(frozen=True)
class Rings:
    """How many ns lie at least between two rings of each doorbell: by the sandbox, whose timer makes one that came too soon again, and of it."""

    by: tuple[int, ...] = ()
    of: tuple[int, ...] = ()


def core_sets(sandbox: Sandbox, costs: Costs, rings: Rings) -> list[CoreSet]:
    """Of each core that has VCPUs; of those that have no core of the sandbox it is another rule that speaks."""
    first = sandbox.cores[0] if sandbox.cores else None
    held = [
        (one, next((core for core in sandbox.cores if core.node in one.core_nodes), None if one.core_nodes else first))
        for one in sandbox.vcpus
    ]
    cores = [core for core in sandbox.cores if any(on is core for _, on in held)]
    return [_core_set(sandbox, core, [one for one, on in held if on is core], costs, rings) for core in cores]


def _core_set(sandbox: Sandbox, core: Core, vcpus: list[Vcpu], costs: Costs, rings: Rings) -> CoreSet:
    lines = tuple(one for one in vcpus if one.rate_hz)
    is_first = core is sandbox.cores[0]
    beats = (_top_half(HEARTBEAT_HZ, costs), *(TopHalf(gap, costs.top_half) for gap in rings.of)) if is_first else ()
    again = (TopHalf(gap, costs.top_half) for gap in rings.by)  # whichever core its thread is on
    top_halves = (*again, *beats, *(_top_half(one.rate_hz, costs) for one in lines))

    def period(one: Vcpu | None) -> int:
        return (period_of(one, sandbox.vcpus) if one else MAIN_PERIOD_US) * NS_PER_US

    def reservation(one: Vcpu | None) -> MainVcpu | IoVcpu:
        if one is None:
            return MainVcpu(lib.BH_VCPU_MAIN_BUDGET_NS, period(one))
        return IoVcpu(one.percent, period(one)) if one.is_io else MainVcpu(one.budget_us * NS_PER_US, period(one))

    ranked = tuple(sorted((None, *vcpus), key=period))  # of equal ones, the first that is made comes first
    reservations = Reservations(tuple(reservation(one) for one in ranked), top_halves, costs.switch)
    return CoreSet(core, sandbox.is_edf, ranked, lines, reservations, costs)


def _top_half(rate_hz: int, costs: Costs) -> TopHalf:
    return TopHalf(NS_PER_S // rate_hz, costs.top_half)


def loads_of(sandbox: Sandbox, costs: Costs, rings: Rings) -> list[CoreLoad]:
    return [_load(one) for one in core_sets(sandbox, costs, rings)]


def asked_text(load: CoreLoad) -> str:
    """How much of the core is asked for, and how much of that the file does not show."""
    main = next(one for one in load.vcpus if one.name == MAIN_PROGRAM)
    beyond = load.asked - sum(one.utilization for one in load.vcpus)
    rest = f" and {beyond:.1%} for switches, interrupts and what I/O VCPUs take at once" if load.scheduler != "edf" else ""
    return f"{load.asked:.1%}, {main.utilization:.1%} of it for {OWN_MAIN}{rest}"


def admitted_text(load: CoreLoad) -> str:
    """Of a core's VCPUs that are admitted: by what."""
    if load.scheduler == "edf":
        return f"{asked_text(load)}; no deadline is missed"
    by = "this bound" if load.by_bound else "response times, as the bound is sufficient and not necessary"
    return f"{asked_text(load)}; {load.allowed:.1%} always fit; admitted by {by}"


def misses_of(sandbox: Sandbox, costs: Costs, rings: Rings) -> Iterator[Miss]:
    """Sets that no test admits. What has no sense by itself is left to other rules, as are I/O VCPUs by deadline, for which there is no test."""
    for one in core_sets(sandbox, costs, rings):
        if one.edf and any(isinstance(each, IoVcpu) for each in one.reservations.vcpus):
            continue
        try:
            verdict = one.judge(one.reservations)
        except BadReservation:
            continue
        if not verdict.admitted:
            says = _what_is_late(one, verdict) if one.edf else _who_is_late(one)
            vcpu, fit = _would_fit(one)
            line, rate_hz = _slower_line(one)
            percent = 0 if fit or rate_hz else _percent_of_each(one)
            yield Miss(_load(one), says, vcpu, fit, line, rate_hz, verdict.is_undecided, percent)


def _largest_fit(one: CoreSet, rank: int) -> int:
    """In percent or us."""
    fit = largest_fit(one.reservations, rank, one.judge)
    return fit if isinstance(one.reservations.vcpus[rank], IoVcpu) else fit // NS_PER_US


def _percent_of_each(one: CoreSet) -> int:
    """The largest; budgets are rounded down to a us, shares to a per cent."""

    def shrunk(rank: int, percent: int) -> MainVcpu | IoVcpu:
        vcpu = one.reservations.vcpus[rank]
        if isinstance(vcpu, IoVcpu):
            return replace(vcpu, percent=vcpu.percent * percent // 100)
        return replace(vcpu, budget=vcpu.budget // NS_PER_US * percent // 100 * NS_PER_US) if one.vcpus[rank] else vcpu

    def all_shrunk(percent: int) -> Reservations:
        return replace(one.reservations, vcpus=tuple(shrunk(rank, percent) for rank in range(len(one.vcpus))))

    def is_good(percent: int) -> bool:
        try:
            all_shrunk(percent).check()
        except BadReservation:  # less than a switch takes
            return False
        return True

    least = next((percent for percent in range(1, WHOLE) if is_good(percent)), WHOLE)
    return last_true(range(least, WHOLE), lambda percent: one.judge(all_shrunk(percent)).admitted)


def _slower_line(one: CoreSet) -> tuple[Vcpu | None, int]:
    """The line of the file with the highest rate, or else another, and the highest rate of it with which all fits; 0 if no lower one helps."""
    by_rate = sorted(range(len(one.lines)), key=lambda n: -one.lines[n].rate_hz)
    tried = {n: _highest_rate(one, n) for n in by_rate}
    n = next((n for n, rate in tried.items() if rate), next(iter(tried), None))
    return (None, 0) if n is None else (one.lines[n], tried[n])


def _highest_rate(one: CoreSet, n: int) -> int:
    top_halves = one.reservations.top_halves
    at = len(top_halves) - len(one.lines) + n

    def fits(rate_hz: int) -> bool:
        slower = replace(one.reservations, top_halves=(*top_halves[:at], _top_half(rate_hz, one.costs), *top_halves[at + 1 :]))
        return one.judge(slower).admitted

    return last_true(range(1, one.lines[n].rate_hz), fits)


def _load(one: CoreSet) -> CoreLoad:
    core, mains = one.reservations, len(one.reservations.mains)
    return CoreLoad(
        core=one.core.number,
        scheduler="edf" if one.edf else "rate-monotonic",
        asked=float(sum(each.utilization for each in core.vcpus) if one.edf else bound_asked(core)),
        allowed=1.0 if one.edf else mains * (2 ** (1 / mains) - 1),
        by_bound=not one.edf and admitted_by_bound(core),
        exact=core.exact,
        vcpus=[_vcpu_load(one, rank) for rank in range(len(one.vcpus))],
    )


def _vcpu_load(one: CoreSet, rank: int) -> VcpuLoad:
    each = one.reservations.vcpus[rank]
    return VcpuLoad(
        name=one.name(rank),
        kind="io" if isinstance(each, IoVcpu) else "main",
        budget_us=each.budget // NS_PER_US,
        period_us=each.period // NS_PER_US,
        utilization=float(each.utilization),
        response_us=None if one.edf or (span := _response(one.reservations, rank)) is None else _us(span),
    )


def _response(core: Reservations, rank: int) -> int | None:
    try:
        return response_time(core, rank)
    except TooLong:
        return None


def _who_is_late(one: CoreSet) -> str:
    """The first by rank, and when it would be done: what is above its period is not followed to the end."""
    core = one.reservations
    rank = next(rank for rank in range(len(core.vcpus)) if _response(core, rank) is None)
    period, span = core.vcpus[rank].period, 1
    for _ in range(MOST_STEPS):
        if span > period:
            late = f"{one.shown(rank)} has had its budget after {_us(span):,} us or more, and its period is {_us(period):,} us"
            return f"in the worst case {late}"
        span = demand(core, rank, span)
    return f"whether {one.shown(rank)} always has its budget in its period takes too long to find out"


def _what_is_late(one: CoreSet, verdict: Verdict) -> str:
    if verdict.late is None:
        return verdict.text
    return f"by {_us(verdict.late):,} us there is work for {_us(demand_until(one.reservations, verdict.late)):,} us"


def _would_fit(one: CoreSet) -> tuple[Vcpu, int]:
    """The VCPU of the file that is late, or else the greediest, with 0 if no smaller budget of it helps."""
    core = one.reservations
    ranks = sorted((rank for rank, vcpu in enumerate(one.vcpus) if vcpu), key=lambda rank: -core.vcpus[rank].utilization)
    late = [rank for rank in ranks if not one.edf and _response(core, rank) is None]
    tried = {rank: _largest_fit(one, rank) for rank in (*late[:1], ranks[0])}
    rank = next((rank for rank, fit in tried.items() if fit), next(iter(tried)))
    vcpu = one.vcpus[rank]
    assert vcpu
    return vcpu, tried[rank]
