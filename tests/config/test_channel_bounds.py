# SPDX-License-Identifier: Apache-2.0
"""BH-F6.delay. Worst cases of channels: the papers' equations by hand, the bound that is enforced by hand and against the kernel's sporadic servers."""

from dataclasses import replace
from fractions import Fraction

import pytest
from bhtool.config import channel_paper as paper
from bhtool.config.admission import MainVcpu, Reservations, response_time
from bhtool.config.channel_bounds import (
    Exchange,
    Stage,
    Supply,
    added,
    bound,
    message_sizes,
    polling_bound,
    request_and_reply,
    seen_by,
    supply,
    through_ring,
)
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.config.channel_model import Model, ModelEnd, Stretches

FOREVER = 1 << 60


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return Model(tmp_path_factory.mktemp("model"))


# ---- the papers' equations ------------------------------------------------------------------------------------------------------

SENDER, RECEIVER = paper.PaperEnd(20, 100, 1), paper.PaperEnd(10, 50, 1)


def test_equation_1() -> None:
    """45 of budgets of 20 are two, and 5. 10 + 20 + 15 = 45 of budgets of 10 are four, and 5."""
    assert paper.send_time(SENDER, 45) == 2 * 100 + 5
    assert paper.serve_time(RECEIVER, 10, 20, 15) == 4 * 50 + 5
    assert paper.serve_time(RECEIVER, 10, 0, 0) == 50  # as printed: a whole budget takes a period


def test_equation_2() -> None:
    """5 + 80, then 5 + 7 + 3 = 15: 50 + 5 and 40, then 7 + 80."""
    assert paper.round_trip(SENDER, RECEIVER, 5, 7, 3) == (5 + 80) + (55 + 40) + (7 + 80)


def test_equation_3() -> None:
    """45 bytes are three slots of 20: 100 + 80, 3 budgets and 40, 10 + 80, each time."""
    assert paper.many_round_trips(SENDER, RECEIVER, 45, 10, 20) == 3 * ((100 + 80) + (150 + 40) + (10 + 80))


def test_equation_3_of_replies_that_are_longer_than_a_slot() -> None:
    assert paper.many_round_trips(SENDER, RECEIVER, 45, 30, 20) == 3 * paper.round_trip(SENDER, RECEIVER, 20, 20)


@pytest.mark.parametrize(("request_size", "reply"), [(20, 20), (45, 46)])
def test_what_equation_3_leaves_out(request_size: int, reply: int) -> None:
    with pytest.raises(ValueError, match=f"not for N = {request_size}, M = {reply}, B = 20"):
        paper.many_round_trips(SENDER, RECEIVER, request_size, reply, 20)


def test_equation_4() -> None:
    assert paper.one_way(SENDER, RECEIVER, 45, 20) == 3 * ((100 + 80) + (100 + 40))
    assert paper.one_way(SENDER, RECEIVER, 45, 20, 5) == 3 * ((100 + 80) + (105 + 40))


def test_a_byte_may_cost_less_than_a_tick() -> None:
    quarter = paper.PaperEnd(20, 100, Fraction(1, 4))
    assert paper.send_time(quarter, 82) == 100 + Fraction(1, 2)


# ---- what a VCPU surely has -----------------------------------------------------------------------------------------------------


def test_the_counter_example(model: Model) -> None:
    """A VCPU of 2 in 10 after one of 7 in 10 waits for 15, where T - C is 8: it runs at 20 and 21, and the other one from 30 on."""
    low = supply(2, 10, response_time(Reservations((MainVcpu(7, 10), MainVcpu(2, 10))), 1))
    assert (low.response, low.blackout, low.latest(1)) == (9, 15, 16)
    ends = ModelEnd(2, 10, 0, (7, 10), ((30, FOREVER),)), ModelEnd(1, 10)
    assert model.exchange(ends, 22, [1]) == 16
    assert paper.PaperEnd(2, 10, 1).gap == 8


@pytest.mark.parametrize(
    ("one", "work", "span"),
    [
        (supply(20, 100), 0, 0),
        (supply(20, 100), 1, 81),
        (supply(20, 100), 20, 100),
        (supply(20, 100), 21, 181),
        (supply(20, 100), 45, 80 + 205),
        (supply(20, 100, 60), 1, 121),  # (100 - 20) + (60 - 20)
        (supply(20, 100, 60, 5), 1, 126),  # and 5
        (supply(20, 100, 60, 5), 16, 125 + 101),
    ],
)
def test_latest(one: Supply, work: int, span: int) -> None:
    assert one.latest(work) == span


@pytest.mark.parametrize(
    ("one", "span", "work"),
    [
        (supply(20, 100), 10, 10),
        (supply(20, 100), 30, 20),
        (supply(20, 100), 100, 20),
        (supply(20, 100), 110, 30),
        (supply(20, 100, 60), 70, 30),  # the last 20 of one period's 60, and the first of the next
        (supply(20, 100, 100), 40, 40),
        (supply(20, 100, 20, 5), 30, 25),  # it may end late by what it lacks later
    ],
)
def test_most(one: Supply, span: int, work: int) -> None:
    assert one.most(span) == work


@pytest.mark.parametrize("numbers", [(0, 10, 5, 0), (5, 10, 4, 5), (5, 10, 11, 5), (11, 10, 11, 5), (5, 10, 5, 0), (5, 10, 5, 6)])
def test_no_such_vcpu(numbers: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="not 0 < usable <= budget <= response <= period"):
        Supply(*numbers)


# ---- exchanges ------------------------------------------------------------------------------------------------------------------


def test_sizes_of_messages() -> None:
    assert [message_sizes(size, 20) for size in (0, 1, 20, 45)] == [[0], [1], [20], [20, 20, 5]]


def stages(*works: int) -> Exchange:
    """Of the ends in turn."""
    return [Stage(0 if n % 2 == 0 else 1, work) for n, work in enumerate(works)]


def test_requests_and_replies() -> None:
    """N, M and B: 45, 0, 20; 5, 25, 20, which is M > N and M > B; 45, 50, 20, which is M > N > B. K is 7."""

    def of(request_size: int, reply: int) -> Exchange:
        return request_and_reply(lambda size: size + 1, lambda size: size + 2, request_size, reply, 20, 7)

    assert of(45, 0) == stages(21, 22, 21, 22, 6, 7 + 7)
    assert of(5, 25) == stages(6, 7 + 7 + 21, 22, 6, 7)
    assert of(45, 50) == stages(21, 22, 21, 22, 6, 7 + 7 + 21, 22, 21, 22, 11, 12)


def test_a_ring() -> None:
    """Two slots of 20: 45 bytes are a batch of two and one of one."""
    assert through_ring(lambda size: size + 1, lambda size: size + 2, 45, 20, 2, 7) == stages(42, 58, 6, 14)


ENDS = supply(20, 100), supply(10, 50)


def test_a_round_trip_by_hand() -> None:
    """Works 5, 15, 7. Added: 85 + (40 + 55) + 87. Of the sender: meanwhile it polls for 95, in which it has 20 at most, so in all it needs 32, which
    is 80 + 100 + 12."""
    assert added(ENDS, stages(5, 15, 7)) == 85 + 95 + 87
    assert seen_by(ENDS, stages(5, 15, 7), 0) == 192
    assert seen_by(ENDS, stages(5, 15, 7), 1) == 267
    assert bound(ENDS, stages(5, 15, 7)) == 192


def test_a_transfer_by_hand() -> None:
    """Three times 5 and 4. The sender polls for 44, in which it has 20, twice; the receiver for 85, in which it has 10 + 10, twice."""
    row = stages(5, 4, 5, 4, 5, 4)
    assert added(ENDS, row) == 3 * (85 + 44)
    assert seen_by(ENDS, row, 0) == (80 + 2 * 100 + 15) + 44  # 15 + 40 = 55
    assert seen_by(ENDS, row, 1) == 85 + (40 + 5 * 50 + 2)  # 12 + 40 = 52
    assert bound(ENDS, row) == 339


def test_a_transfer_of_ends_that_poll_by_hand() -> None:
    """10 in 100 both, 2 for each slot: one slot in a period. The sender begins with 1 left, has sent the first one 90 + 2 later, and the last one nine
    periods and 1 after that, as it begins that with a whole budget; the receiver takes it 92 later."""
    ends = supply(10, 100), supply(10, 100)
    assert polling_bound(ends, stages(*[2] * 20)) == 92 + 9 * 100 + 1 + 92
    assert bound(ends, stages(*[2] * 20)) == 90 + 92 + (20 + 9 * 10 - 1) // 10 * 100 + 10


def test_who_has_slept_takes_longer(model: Model) -> None:
    """Case 5 of table II, 64 slots of 49 us. With naps before, budgets of 50 come in pieces, and each copy waits twice."""
    naps = ((153, 472), (626, 1009), (1670, 1868), (2774, 3070)), ((875, 1592), (2032, 2667))
    ends = ModelEnd(50, 1000, 67, naps=naps[0]), ModelEnd(50, 1300, 686, naps=naps[1])
    supplies, row = (supply(50, 1000), supply(50, 1300)), stages(*[49] * 128)
    found = model.exchange(ends, 10_248, [49, 49], 64)
    assert polling_bound(supplies, row) < found <= bound(supplies, row)
    assert found == 119_822


def test_what_switches_take(model: Model) -> None:
    """Of 20 the last 5: 85 without work."""
    ends = ModelEnd(20, 100, lost=5, lost_at=15), ModelEnd(1, 100)
    assert model.exchange(ends, 15, [1]) == supply(20, 100, None, 5).latest(1) == 86


SUPPLIES = st.builds(
    lambda period, budget, response, lost: supply(
        1 + budget % period, period, 1 + budget % period + response % (period - budget % period), lost % (1 + budget % period)
    ),
    *[st.integers(2, 300), *[st.integers(0, 300)] * 3],
)
WORKS = st.lists(st.integers(1, 200), min_size=1, max_size=8)


@given(SUPPLIES, SUPPLIES, WORKS)
def test_never_more_than_the_sum(first: Supply, second: Supply, works: list[int]) -> None:
    ends, row = (first, second), stages(*works)
    assert polling_bound(ends, row) <= bound(ends, row) <= added(ends, row)


@given(SUPPLIES, SUPPLIES, WORKS, st.integers(0, 7), st.integers(0, 50))
def test_more_work_takes_no_less(first: Supply, second: Supply, works: list[int], at: int, more: int) -> None:
    ends, longer = (first, second), list(works)
    longer[at % len(works)] += more
    assert bound(ends, stages(*longer)) >= bound(ends, stages(*works))
    assert polling_bound(ends, stages(*longer)) >= polling_bound(ends, stages(*works))


@given(SUPPLIES, st.integers(0, 300), st.integers(0, 300), st.integers(0, 300), st.integers(0, 900))
def test_a_longer_period_and_a_smaller_budget_take_no_less(one: Supply, period: int, response: int, lost: int, work: int) -> None:
    """Of one end. Of an exchange that is not so: what the other end polls away may be less."""
    more = Supply(one.budget, one.period + period + response, one.response + response, max(1, one.usable - lost))
    assert more.latest(work) >= one.latest(work)


@given(SUPPLIES, SUPPLIES, st.tuples(*[st.integers(1, 200)] * 3))
def test_by_the_highest_vcpus_the_sum_is_the_paper_s(first: Supply, second: Supply, works: tuple[int, int, int]) -> None:
    """But for whole budgets, which take a period there."""
    sender, receiver = (paper.PaperEnd(one.budget, one.period, 1) for one in (first, second))
    there, served, back = works
    said = sender.spread(there) + receiver.spread(served) + sender.spread(back) + 2 * sender.gap + receiver.gap
    ends = tuple(supply(one.budget, one.period) for one in (first, second))
    ours = added((ends[0], ends[1]), stages(*works))
    assert ours <= said
    if there % first.budget and back % first.budget and served % second.budget:
        assert ours == said
    lower = added((first, second), stages(*works))
    assert lower >= ours


@given(SUPPLIES, st.integers(1, 2000))
def test_what_is_surely_had_is_no_more_than_the_most(one: Supply, work: int) -> None:
    assert one.most(one.latest(work)) >= work


# ---- against the kernel's servers -----------------------------------------------------------------------------------------------


def stretches(draw: st.DrawFn, until: int) -> Stretches:
    at, found = 0, []
    for _ in range(draw(st.integers(0, 4))):
        begin = at + draw(st.integers(1, 40))
        at = begin + draw(st.integers(1, 40))
        if at >= until:
            break
        found.append((begin, at))
    return found


@st.composite
def model_ends(draw: st.DrawFn, start: int, may_sleep: bool) -> tuple[ModelEnd, Supply]:
    """With a VCPU before it or none, and what it surely has."""
    period = draw(st.integers(4, 40))
    budget = draw(st.integers(1, period))
    naps = stretches(draw, start) if may_sleep else ()
    lost = draw(st.integers(0, budget - 1))
    one = ModelEnd(budget, period, draw(st.integers(0, period)), naps=naps, lost=lost, lost_at=draw(st.integers(0, budget - 1)))
    if draw(st.booleans()):
        return one, supply(budget, period, None, lost)
    higher = draw(st.integers(1, 12)), draw(st.integers(4, 60))
    assume(higher[0] <= higher[1])
    response = response_time(Reservations((MainVcpu(*higher), MainVcpu(budget, period))), 1)
    assume(response is not None)
    hungry = [*stretches(draw, 400), (draw(st.integers(400, 600)), FOREVER)]
    return replace(one, higher=higher, hungry=hungry), supply(budget, period, response, lost)


START = 200


@settings(max_examples=150, deadline=None)
@given(model_ends(START, True), model_ends(START, True), WORKS, st.integers(START, START + 60), st.integers(1, 3))
def test_no_exchange_takes_longer(
    model: Model, first: tuple[ModelEnd, Supply], second: tuple[ModelEnd, Supply], works: list[int], start: int, times: int
) -> None:
    """Ends that slept before as they liked, and whoever is before them wants to run whenever."""
    row = works if len(works) % 2 == 0 else [*works, 1]
    found = model.exchange((first[0], second[0]), start, row, times)
    assert found <= bound((first[1], second[1]), stages(*row * times))


@settings(max_examples=150, deadline=None)
@given(model_ends(START, False), model_ends(START, False), WORKS, st.integers(START, START + 60), st.integers(1, 20))
def test_no_exchange_of_ends_that_poll_takes_longer(
    model: Model, first: tuple[ModelEnd, Supply], second: tuple[ModelEnd, Supply], works: list[int], start: int, times: int
) -> None:
    row = works if len(works) % 2 == 0 else [*works, 1]
    found = model.exchange((first[0], second[0]), start, row, times)
    assert found <= polling_bound((first[1], second[1]), stages(*row * times))
