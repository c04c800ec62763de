# SPDX-License-Identifier: Apache-2.0
"""What the configured VCPUs ask of each core, judged by the tests of admission.py, in microseconds.

The set of a core is what its kernel makes there: the main program's VCPU, then those of the partition file, ranked by period. What top halves
and switches take has not been measured yet, and is not in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bhtool.config.admission import (
    MOST_STEPS,
    BadReservation,
    IoVcpu,
    MainVcpu,
    Reservations,
    TooLong,
    admitted_by_bound,
    bound_asked,
    demand,
    judge_by_deadline,
    judge_by_rank,
    largest_fit,
    response_time,
)
from bhtool.config.domains import Sandbox
from bhtool.config.machine import Core
from bhtool.config.plan import CoreLoad, VcpuLoad
from bhtool.config.vcpus import MAIN_BUDGET_US, MAIN_PERIOD_US, MAIN_PROGRAM, Vcpu, period_of


@dataclass(frozen=True)
class CoreSet:
    """VCPUs of one core by rank; None stands for the main program's."""

    core: Core
    edf: bool
    vcpus: tuple[Vcpu | None, ...]
    reservations: Reservations

    def name(self, rank: int) -> str:
        vcpu = self.vcpus[rank]
        return vcpu.name if vcpu else MAIN_PROGRAM


@dataclass(frozen=True)
class Miss:
    """Why a set is refused: who is late, and which VCPU of the partition file fits with which budget or percentage, if one does."""

    load: CoreLoad
    says: str
    vcpu: Vcpu
    fit: int


def core_sets(sandbox: Sandbox) -> list[CoreSet]:
    """Of each core that has VCPUs; of those that have no core of the sandbox it is another rule that speaks."""
    first = sandbox.cores[0] if sandbox.cores else None
    held = [
        (one, next((core for core in sandbox.cores if core.node in one.core_nodes), None if one.core_nodes else first))
        for one in sandbox.vcpus
    ]
    cores = [core for core in sandbox.cores if any(on is core for _, on in held)]
    return [_core_set(sandbox, core, [one for one, on in held if on is core]) for core in cores]


def _core_set(sandbox: Sandbox, core: Core, vcpus: list[Vcpu]) -> CoreSet:
    def period(one: Vcpu | None) -> int:
        return period_of(one, sandbox.vcpus) if one else MAIN_PERIOD_US

    longest = max(period(one) for one in (None, *vcpus) if one is None or not one.is_io)

    def reservation(one: Vcpu | None) -> MainVcpu | IoVcpu:
        if one is None:
            return MainVcpu(MAIN_BUDGET_US, MAIN_PERIOD_US)
        return IoVcpu(one.percent, period(one), max(longest, period(one))) if one.is_io else MainVcpu(one.budget_us, period(one))

    ranked = tuple(sorted((None, *vcpus), key=period))  # of equal ones, the first that is made comes first
    return CoreSet(core, sandbox.is_edf, ranked, Reservations(tuple(reservation(one) for one in ranked)))


def loads_of(sandbox: Sandbox) -> list[CoreLoad]:
    return [_load(one) for one in core_sets(sandbox)]


def misses_of(sandbox: Sandbox) -> Iterator[Miss]:
    """Sets that no test admits. What has no sense by itself is left to other rules."""
    for one in core_sets(sandbox):
        try:
            verdict = (judge_by_deadline if one.edf else judge_by_rank)(one.reservations)
        except BadReservation:
            continue
        if not verdict.admitted:
            vcpu, fit = _would_fit(one)
            yield Miss(_load(one), verdict.text if one.edf else _who_is_late(one), vcpu, fit)


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
        budget_us=each.budget,
        period_us=each.period,
        utilization=float(each.utilization),
        response_us=None if one.edf else _response(one.reservations, rank),
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
            return f"in the worst case `{one.name(rank)}` has had its budget after {span:,} us or more, and its period is {period:,} us"
        span = demand(core, rank, span)
    return f"whether `{one.name(rank)}` always has its budget in its period takes too long to find out"


def _would_fit(one: CoreSet) -> tuple[Vcpu, int]:
    """The VCPU of the file that is late, or else the greediest, with 0 if no smaller budget of it helps."""
    judge = judge_by_deadline if one.edf else judge_by_rank
    core = one.reservations
    ranks = sorted((rank for rank, vcpu in enumerate(one.vcpus) if vcpu), key=lambda rank: -core.vcpus[rank].utilization)
    late = [rank for rank in ranks if not one.edf and _response(core, rank) is None]
    tried = {rank: largest_fit(core, rank, judge) for rank in (*late[:1], ranks[0])}
    rank = next((rank for rank, fit in tried.items() if fit), next(iter(tried)))
    vcpu = one.vcpus[rank]
    assert vcpu
    return vcpu, tried[rank]
