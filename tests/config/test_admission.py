# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler. Admission by the host tool: literal sets; against definitions counted out tick by tick; and against the kernel's C."""

import ctypes
import subprocess
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import lcm

import pytest
from bhtool.config import admission
from bhtool.config.admission import (
    BadReservation,
    IoVcpu,
    MainVcpu,
    Reservations,
    TooLong,
    TopHalf,
    Vcpu,
    admitted_by_bound,
    bound_allows,
    bound_asked,
    demand_until,
    first_late_deadline,
    judge_by_deadline,
    judge_by_rank,
    largest_fit,
    response_time,
    with_amount,
)
from bhtool.paths import ROOT
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.config.admission_kernel import Kernel

MANY = settings(
    max_examples=1000, deadline=None, derandomize=True, suppress_health_check=(HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
)
PPM = 1_000_000
OK, E_LOAD, E_UNDECIDED, E_EDF_IO = 0, -1, -2, -3
BAD = {-4: "more than", -5: "period", -6: "period", -7: "percentage", -8: "switch", -9: "blocking", -10: "distance", -11: "cost"}


def mains(*pairs: tuple[int, int]) -> Reservations:
    return Reservations(tuple(MainVcpu(budget, period) for budget, period in pairs))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    library = tmp_path_factory.mktemp("admission") / "admission.so"
    source = ROOT / "kernel" / "sched" / "admission.c"
    subprocess.run(["clang-19", "-std=c17", "-O1", "-shared", "-fPIC", "-I", str(ROOT), "-o", str(library), str(source)], check=True)
    return Kernel(ctypes.CDLL(str(library)))


# ---- literal sets -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("core", "responses", "by_bound"),
    [
        (mains((3, 7), (3, 12), (5, 20)), [3, 6, 20], False),
        (mains((5, 20), (10, 40), (40, 80)), [5, 15, 80], False),
        (mains((10, 30), (10, 40), (12, 50)), [10, 20, None], False),
        (mains(*[(20, 100)] * 4), [20, 40, 60, 80], False),
        (mains((10, 50), (20, 100), (20, 100), (20, 100), (10, 100)), [10, 30, 50, 80, 90], False),
        (mains((1, 4), (1, 5)), [1, 2], True),
    ],
)
def test_response_times(core: Reservations, responses: list[int | None], by_bound: bool) -> None:
    assert [response_time(core, rank) for rank in range(len(core.vcpus))] == responses
    assert admitted_by_bound(core) == by_bound
    assert judge_by_rank(core).admitted == (None not in responses)
    assert judge_by_rank(core).exact


@pytest.mark.parametrize(
    ("count", "servers", "asked", "admitted"),
    [(2, 1, Fraction(59, 100), True), (3, 2, Fraction(98, 100), False), (4, 3, Fraction(137, 100), False)],
)
def test_the_bound_with_io(count: int, servers: int, asked: Fraction, admitted: bool) -> None:
    core = Reservations((*[IoVcpu(10, 100)] * servers, *[MainVcpu(20, 100)] * count))
    assert bound_asked(core) == asked
    assert admitted_by_bound(core) == admitted
    assert not judge_by_rank(core).exact


def test_by_deadline() -> None:
    assert judge_by_deadline(mains((1, 3), (1, 3), (1, 3))).admitted
    assert judge_by_deadline(mains((5, 10), (10, 19))).text == "VCPUs and interrupts take 102.6%, more than there is"
    assert judge_by_deadline(Reservations((IoVcpu(10, 10),))).text == "no test by deadline is known for I/O VCPUs"
    blocked = Reservations((MainVcpu(4, 10, 7), MainVcpu(9, 30)))
    assert judge_by_deadline(blocked).text == "by 10 there is work for 11"
    assert largest_fit(blocked, 0, judge_by_deadline) == 3


def test_what_would_fit(kernel: Kernel) -> None:
    late = mains((10, 30), (10, 40), (12, 50))
    assert [largest_fit(replace(late, switch_cost=cost), 2) for cost in (0, 1)] == [10, 5]
    assert [kernel.fit(replace(late, switch_cost=cost), 2) for cost in (0, 1, 11)] == [10, 5, 0]
    assert largest_fit(Reservations((MainVcpu(26, 30), MainVcpu(10, 40)), (), 2), 1) == 0
    assert largest_fit(Reservations((IoVcpu(1, 10), MainVcpu(4, 10))), 0) == 49  # 4 of 10, as with 40


LATE_TWO = (MainVcpu(5, 10), MainVcpu(6, 15))


@pytest.mark.parametrize(
    ("core", "late"),
    [
        (Reservations(LATE_TWO, (TopHalf(100, 1),)), None),
        (Reservations(LATE_TWO, (TopHalf(100, 2),)), 30),  # after the longest period
        (Reservations(LATE_TWO, (), 1), 30),
        (
            Reservations((MainVcpu(1, 10), MainVcpu(1, 20, 19), MainVcpu(1, 40)), (TopHalf(100, 1),)),
            20,
        ),  # after what the rest of the core makes up for
        (Reservations((MainVcpu(1, 10), MainVcpu(1, 20, 16), MainVcpu(1, 40)), (TopHalf(100, 1),)), 20),
        (Reservations((MainVcpu(1, 10), MainVcpu(1, 20, 15), MainVcpu(1, 40)), (TopHalf(100, 1),)), None),
        (Reservations((MainVcpu(4, 10, 7), MainVcpu(30, 60))), 10),  # demand 30 by 60 passes over all that are before it
    ],
)
def test_which_deadlines_are_looked_at(kernel: Kernel, core: Reservations, late: int | None) -> None:
    result, report = kernel.test(core, edf=True)
    assert first_late_deadline(core) == late
    assert result == (OK if late is None else E_LOAD)
    assert late is None or report.response > report.deadline


@pytest.mark.parametrize(
    ("core", "words"),
    [
        (mains((1, 10), (1, 0)), "VCPU 1: period 0"),
        (mains((0, 10)), "VCPU 0: budget 0"),
        (mains((11, 10)), "VCPU 0: budget 11"),
        (mains((1, (1 << 44) + 1)), "VCPU 0: period 17592186044417"),
        (mains(*[(1, 100)] * 65), "65 VCPUs"),
        (Reservations((IoVcpu(0, 10),)), "VCPU 0: percentage 0"),
        (Reservations((IoVcpu(101, 10),)), "VCPU 0: percentage 101"),
        (Reservations((IoVcpu(9, 10),)), "no whole tick"),
        (Reservations((IoVcpu(10, (1 << 44) + 1),)), "VCPU 0: period 17592186044417"),
        (Reservations((MainVcpu(5, 10), MainVcpu(4, 10)), (), 5), "VCPU 1: budget 4 is below 5"),
        (Reservations((MainVcpu(5, 10, -1),)), "blocking -1"),
        (Reservations((), (TopHalf(10, 1), TopHalf(0, 1))), "top half 1: distance 0"),
        (Reservations((), (TopHalf(10, 11),)), "top half 0: cost 11"),
    ],
)
def test_mistakes_are_named(core: Reservations, words: str) -> None:
    for judge in (judge_by_rank, judge_by_deadline):
        with pytest.raises(BadReservation, match=words):
            judge(core)


def test_what_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MOST_STEPS", 2)
    monkeypatch.setattr(admission, "MOST_DEADLINES", 2)
    monkeypatch.setattr(admission, "FIRST_DEADLINES", 2)
    assert "steps" in judge_by_rank(mains((3, 7), (3, 12), (5, 20))).text
    assert "deadlines" in judge_by_deadline(mains((3, 7), (3, 12), (5, 100))).text
    assert judge_by_rank(mains((1, 40), (1, 50))).admitted


# ---- against definitions ------------------------------------------------------------------------------------------------------

TOP_HALVES = st.builds(lambda cost, more: TopHalf(cost + more, cost), st.integers(1, 3), st.integers(3, 40))


def drawn_main(period: int, of_100: int, blocking: int) -> MainVcpu:
    return MainVcpu(max(1, period * of_100 // 100), period, blocking)


def drawn_io(period: int, percent: int, blocking: int) -> IoVcpu:
    return IoVcpu(max(percent, -(-100 // period)), period, blocking)


BLOCKING = st.sampled_from((0, 0, 0, 1, 4))


def vcpus(most: int, with_io: bool, blocking: st.SearchStrategy[int], shares: int = 60) -> st.SearchStrategy[list[Vcpu]]:
    some: st.SearchStrategy[Vcpu] = st.builds(drawn_main, st.integers(3, most), st.integers(1, shares), blocking)
    if with_io:
        some |= st.builds(drawn_io, st.integers(3, most), st.integers(1, 35), blocking)
    return st.lists(some, min_size=1, max_size=6).map(lambda found: sorted(found, key=lambda one: one.period))


def longer(one: Vcpu, scale: int, more: int) -> Vcpu:
    if isinstance(one, MainVcpu):
        return MainVcpu(one.budget * scale + more, one.period * scale, one.blocking * scale)
    return IoVcpu(one.percent, one.period * scale, one.blocking * scale)


def cores(most: int, scale: int = 1) -> st.SearchStrategy[Reservations]:
    """With everything; all times `scale` as long, or a little more."""

    def build(found: list[Vcpu], tops: list[TopHalf], cost: int) -> Reservations:
        more = scale > 1
        scaled = tuple(longer(one, scale, more * n) for n, one in enumerate(found))
        return Reservations(scaled, tuple(TopHalf(one.distance * scale + more, one.cost * scale) for one in tops), cost * scale)

    return st.builds(build, vcpus(most, True, BLOCKING), st.lists(TOP_HALVES, max_size=2), st.sampled_from((0, 0, 1)))


def counted_work(one: Vcpu, span: int) -> int:
    """By the time at which the last piece begins."""
    if isinstance(one, MainVcpu):
        return sum(one.budget for _ in range(0, span, one.period))
    budget = one.period * one.percent // 100
    return max(one.percent * before // 100 + budget for before in range(max(1, span - budget + 1)))


def counted_response(core: Reservations, rank: int) -> int | None:
    own = core.vcpus[rank]

    def needed(span: int) -> int:
        tops = sum(one.cost * (1 + len(range(0, span, one.distance))) for one in core.top_halves)
        late = core.switch_cost * (rank + 1)  # those before it, and who runs at first
        out = sum(core.switch_cost for other in range(len(core.vcpus)) if other != rank)
        return own.budget + own.blocking + tops + late + out + sum(counted_work(one, span) for one in core.vcpus[:rank])

    return next((span for span in range(1, own.period + 1) if needed(span) <= span), None)


@settings(MANY, max_examples=400)
@given(cores(40))
def test_response_times_are_the_least_spans_with_room(core: Reservations) -> None:
    for rank in range(len(core.vcpus)):
        assert response_time(core, rank) == counted_response(core, rank)


@MANY
@given(cores(60), st.booleans())
def test_what_the_bound_admits_has_response_times(core: Reservations, plain: bool) -> None:
    """Of Main VCPUs; in the order of their periods or not."""
    core = replace(core, top_halves=(), switch_cost=0) if plain else core
    assume(admitted_by_bound(core))
    assert all(response_time(core, rank) for rank, one in enumerate(core.vcpus) if isinstance(one, MainVcpu))


@settings(MANY, max_examples=300)
@given(st.lists(st.builds(drawn_main, st.sampled_from((4, 5, 6, 8, 10, 12, 15)), st.integers(5, 60), st.just(0)), min_size=1, max_size=4))
def test_deadlines_are_met_tick_by_tick_or_not(found: list[MainVcpu]) -> None:
    core = Reservations(tuple(found))
    left, met = [0] * len(found), True
    for now in range(lcm(*(one.period for one in found)) + 1):
        for n, one in enumerate(found):
            if now % one.period == 0:
                met = met and left[n] == 0
                left[n] = one.budget
        waiting = [n for n, ticks in enumerate(left) if ticks]
        if waiting:
            left[min(waiting, key=lambda n: (now // found[n].period + 1) * found[n].period)] -= 1
    assert judge_by_deadline(core).admitted == met


# ---- against the kernel's -----------------------------------------------------------------------------------------------------


def test_the_kernels_table_of_bounds(kernel: Kernel) -> None:
    """The largest that does not admit too much."""
    assert kernel.bound(0) == 1 << 40
    for n in range(1, 65):
        assert bound_allows(Fraction(kernel.bound(n), 1 << 40), n)
        assert not bound_allows(Fraction(kernel.bound(n) + 1, 1 << 40), n)


def agree_by_rank(kernel: Kernel, core: Reservations) -> None:
    result, report = kernel.test(core)
    asked, bound = bound_asked(core), admitted_by_bound(core)
    late = next((rank for rank in range(len(core.vcpus)) if response_time(core, rank) is None), None)
    assert result in (OK, E_LOAD)
    assert 0 <= report.asked_ppm - asked * PPM < 1 + Fraction(1, 1000)
    assert report.by_bound <= bound
    assert report.by_bound or not (bound and bound_allows(asked + Fraction(1, PPM), len(core.mains)))
    assert report.by_response == (late is None)
    assert (result == OK) == (report.by_bound or report.by_response)
    assert report.exact == core.exact
    if late is not None:
        assert (report.which, report.deadline) == (late, core.vcpus[late].period)
        assert report.response > report.deadline
    for rank in range(len(core.vcpus)):
        answer, span = kernel.response(core, rank)
        assert (span if answer == OK else None) == response_time(core, rank)


def fit_agrees(kernel: Kernel, core: Reservations, edf: bool = False) -> None:
    """To the tick, or percent; where only the bound admits, at its very limit, the kernel may fit less, by less than one ppm of a core."""
    rank, judge = len(core.vcpus) - 1, judge_by_deadline if edf else judge_by_rank
    ours, theirs = largest_fit(core, rank, judge), kernel.fit(core, rank, edf)
    assert theirs <= ours
    if ours == theirs:
        return
    assert not edf
    if isinstance(core.vcpus[rank], MainVcpu):
        assert ours - theirs <= Fraction(core.vcpus[rank].period, PPM)
    else:
        full = with_amount(core, rank, ours)
        assert ours - theirs == 1
        assert not bound_allows(bound_asked(full) + Fraction(1, PPM), len(full.mains))


@MANY
@given(cores(60))
def test_small_sets(kernel: Kernel, core: Reservations) -> None:
    agree_by_rank(kernel, core)
    fit_agrees(kernel, core)


@MANY
@given(cores(60, scale=999_983 * 2003))
def test_sets_of_long_periods(kernel: Kernel, core: Reservations) -> None:
    agree_by_rank(kernel, core)


@settings(MANY, max_examples=300)
@given(st.lists(st.builds(drawn_main, st.integers(1000, 1 << 44), st.integers(1, 9), st.just(0)), min_size=7, max_size=64))
def test_many_vcpus(kernel: Kernel, found: list[MainVcpu]) -> None:
    core = Reservations(tuple(sorted(found, key=lambda one: one.period)))
    try:
        agree_by_rank(kernel, core)
    except TooLong:
        assert kernel.test(core)[0] in (E_UNDECIDED, E_LOAD)


@MANY
@given(vcpus(60, False, BLOCKING, 90), st.lists(TOP_HALVES, max_size=2), st.sampled_from((0, 0, 1)), st.sampled_from((1, 999_983 * 2003)))
def test_by_deadline_the_kernel_agrees(kernel: Kernel, found: list[MainVcpu], tops: list[TopHalf], cost: int, scale: int) -> None:
    scaled = tuple(MainVcpu(one.budget * scale, one.period * scale, one.blocking * scale) for one in found)
    core = Reservations(scaled, tuple(TopHalf(one.distance * scale, one.cost * scale) for one in tops), cost * scale)
    verdict, (result, report) = judge_by_deadline(core), kernel.test(core, True)
    assert (result == OK) <= verdict.admitted
    assert (result == OK) or not verdict.admitted or (core.constant and 1 - verdict.asked < Fraction(2, PPM)), verdict
    assert 0 <= report.asked_ppm - verdict.asked * PPM < 1 + Fraction(1, 1000)
    assert report.exact == core.exact
    if result == E_LOAD and report.deadline:
        assert demand_until(core, report.deadline) == report.response > report.deadline
        assert report.deadline % core.vcpus[report.which].period == 0
    if not core.constant:
        fit_agrees(kernel, core, edf=True)


@MANY
@given(st.integers(2, 40), st.integers(1, 1 << 44))
def test_a_core_that_is_just_full(kernel: Kernel, parts: int, period: int) -> None:
    """The sum is exactly one, or more by the least there is; in thirds and sevenths of ticks, which no binary fraction has."""
    assume(period >= parts)
    budgets = [period // parts] * (parts - 1)
    full = mains(*((one, period) for one in [*budgets, period - sum(budgets)]))
    assert kernel.test(full, True)[0] == OK
    assert kernel.test(full)[0] == OK
    over = mains(*((one, period) for one in [*budgets, period - sum(budgets)]), (1, period))
    assert kernel.test(over, True)[0] == kernel.test(over)[0] == E_LOAD


ANY = st.integers(0, (1 << 64) - 1) | st.integers(0, 200) | st.integers((1 << 44) - 3, (1 << 44) + 3)
ANY_VCPU: st.SearchStrategy[Vcpu] = st.builds(MainVcpu, ANY, ANY, ANY) | st.builds(IoVcpu, st.integers(0, 120), ANY, ANY)
ANY_SET = st.builds(
    Reservations, st.lists(ANY_VCPU, max_size=3).map(tuple), st.lists(st.builds(TopHalf, ANY, ANY), max_size=2).map(tuple), ANY | st.just(0)
)


def complaint_of(judge: Callable[[Reservations], object], core: Reservations) -> str:
    try:
        judge(core)
    except BadReservation as bad:
        return str(bad)
    return ""


@MANY
@given(ANY_SET)
def test_mistakes_are_the_same(kernel: Kernel, core: Reservations) -> None:
    result, report = kernel.test(core)
    text = complaint_of(Reservations.check, core)
    assert (result <= E_EDF_IO) == bool(text)
    if text:
        assert f" {report.which}: " in text or result == -4
        assert BAD[result] in text
