# SPDX-License-Identifier: Apache-2.0
"""A machine whose clock stands is noticed, once while it computes, and for good where it sleeps; and no other."""

import os
import subprocess
import sys
from itertools import count, pairwise
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bhtool.machine import standstill
from bhtool.machine.goal import Goal
from bhtool.machine.session import Session
from bhtool.machine.standstill import Standstill, processor_seconds, waits


class Machine:
    """Uses some processor time between looks, which come a second of the host's apart."""

    is_counted = True
    status: int | None = None
    pid = 0
    seconds = 3.0
    pace = 1.0  # processor seconds in each
    waits = False
    look = 0.1  # seconds from one look to the next
    near_timer: object = None

    def exit_status(self) -> int | None:
        return self.status

    def guest_seconds(self) -> float:
        return self.seconds


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine, looks, used = Machine(), count(), count()
    monkeypatch.setattr(standstill, "processor_seconds", lambda _: next(used) * machine.pace)
    monkeypatch.setattr(standstill, "waits", lambda _: machine.waits)
    monkeypatch.setattr(standstill, "time", SimpleNamespace(monotonic=lambda: next(looks) * machine.look))
    return machine


def session(machine: Machine, *states: str) -> Session:
    signs = SimpleNamespace(count=0)
    watches = {
        str(number): SimpleNamespace(state=state, settled=False, stats=None, heartbeat=None, signs=signs)
        for number, state in enumerate(states)
    }
    return cast(Session, SimpleNamespace(machine=machine, guest_seconds=lambda: machine.seconds, watches=watches))


def notices(found: Standstill, looks: int) -> int:
    return sum(bool(found.notice()) for _ in range(looks))


def sleeps(found: Standstill, looks: int) -> bool:
    return any(found.sleeps() for _ in range(looks))


def test_it_is_noticed_once(machine: Machine) -> None:
    assert notices(Standstill(session(machine), patience=5.0), 50) == 1


def test_not_before_its_time(machine: Machine) -> None:
    assert notices(Standstill(session(machine), patience=5.0), 5) == 0


def test_again_when_the_clock_has_moved_between(machine: Machine) -> None:
    found = Standstill(session(machine), patience=5.0)
    assert notices(found, 10) == 1
    machine.seconds = 4.0
    assert notices(found, 10) == 1


@pytest.mark.parametrize("what", [{"is_counted": False}, {"status": 0}, {"seconds": 0.0}], ids=["host's time", "ended", "has yet to begin"])
def test_only_a_machine_that_counts_and_runs(machine: Machine, what: dict[str, Any]) -> None:
    machine.waits = True
    for name, value in what.items():
        setattr(machine, name, value)
    found = Standstill(session(machine), patience=5.0)
    assert notices(found, 50) == 0
    assert not sleeps(found, 50)


def test_a_machine_that_sleeps_is_noticed(machine: Machine) -> None:
    machine.waits, machine.pace = True, 0.001
    assert sleeps(Standstill(session(machine)), 20)


def test_a_look_that_takes_long_shows_no_more_than_another(machine: Machine) -> None:
    """Whoever waits for the machine's answer does not read what it says, which it may wait for."""
    machine.waits, machine.pace, machine.look = True, 0.001, 5.0
    found = Standstill(session(machine))
    assert not sleeps(found, 5)
    assert sleeps(found, 10)


@pytest.mark.parametrize("what", [{"waits": False, "pace": 0.0}, {"waits": True, "pace": 0.5}], ids=["wants a processor", "has one"])
def test_one_that_is_only_slow_does_not_sleep(machine: Machine, what: dict[str, Any]) -> None:
    for name, value in what.items():
        setattr(machine, name, value)
    assert not sleeps(Standstill(session(machine)), 50)


class Timer:
    """The near timer of a machine that has `others`: while one is set, the clock moves at every look."""

    def __init__(self, machine: Machine, others: bool) -> None:
        self._machine, self._others = machine, others
        self.is_set = True
        self.taken: list[float] = []

    def take_away(self) -> bool:
        self.is_set = False
        self.taken.append(self._machine.seconds)
        return True

    def give_back(self) -> None:
        self.is_set = True

    def go_on(self) -> None:
        if self.is_set or self._others:
            self._machine.seconds += 0.25


def quiet(machine: Machine, others: bool, looks: int) -> tuple[Timer, Standstill, int | None]:
    """The machine's near timer, and after which look it was found to sleep."""
    machine.near_timer = timer = Timer(machine, others)
    machine.waits, machine.pace = True, 0.001
    found = Standstill(session(machine, "running"))
    for look in range(looks):
        timer.go_on()
        if found.sleeps():
            return timer, found, look
    return timer, found, None


def test_the_near_timer_is_taken_away_to_see_whether_anything_else_happens(machine: Machine) -> None:
    timer, _, found = quiet(machine, others=False, looks=60)
    assert found is not None
    assert not timer.is_set
    assert len(timer.taken) == 1


def test_who_has_a_timer_of_its_own_gets_the_near_one_back_and_is_looked_at_less_and_less(machine: Machine) -> None:
    timer, _, found = quiet(machine, others=True, looks=200)
    assert found is None
    assert timer.is_set
    rests = [round(after - before) for before, after in pairwise(timer.taken)]
    assert rests[:3] == [2, 4, 8]


def test_who_does_something_is_not_looked_at(machine: Machine) -> None:
    machine.near_timer = timer = Timer(machine, others=True)
    watched = session(machine, "running")
    found = Standstill(watched)
    for look in range(50):
        timer.go_on()
        watched.watches["0"].stats = cast(Any, look // 3)
        assert not found.sleeps()
    assert not timer.taken


def test_a_goal_far_away_is_reached_when_nothing_more_will_happen(machine: Machine) -> None:
    machine.waits, machine.pace = True, 0.001
    goal = Goal(session(machine, "running", "parked"), seconds=100.0, until_ready=False)
    assert any(goal.reached() for _ in range(20))
    assert "no timer" in goal.note


@pytest.mark.parametrize(
    ("states", "over"), [(("parked", "off"), True), (("parked", "running"), False), (("off", "ready"), False), (("cold", "parked"), False)]
)
def test_a_run_is_over_when_nobody_is_left(machine: Machine, states: tuple[str, ...], over: bool) -> None:
    assert Goal(session(machine, *states), seconds=100.0, until_ready=False).reached() is over


@pytest.mark.parametrize(("seconds", "reached"), [(2.9, True), (3.0, True), (3.1, False)])
def test_seconds_are_the_machine_s(machine: Machine, seconds: float, reached: bool) -> None:
    assert Goal(session(machine, "cold"), seconds, until_ready=False).reached() is reached


def test_processor_time_is_this_process_s() -> None:
    times = os.times()
    assert abs(processor_seconds(os.getpid()) - times.user - times.system) < 1.0


def test_who_waits_for_input_waits() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as reader:
        while not waits(reader.pid):
            assert reader.poll() is None
        reader.communicate(b"\n")
    assert not waits(os.getpid()), "this thread is looking"


@pytest.mark.parametrize(("seen", "answer"), [([False, False, True], True), ([False] * 20, False)], ids=["woken by a question", "busy"])
def test_who_is_woken_for_a_moment_waits_all_the_same(monkeypatch: pytest.MonkeyPatch, seen: list[bool], answer: bool) -> None:
    looks = iter(seen)
    monkeypatch.setattr(standstill, "_waits_now", lambda _: next(looks))
    assert waits(0) is answer
