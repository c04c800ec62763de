# SPDX-License-Identifier: Apache-2.0
"""A machine that computes while nothing in it moves is noticed, once, and no other."""

import os
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bhtool import standstill
from bhtool.memory import Heartbeat
from bhtool.session import Session
from bhtool.standstill import Standstill, processor_seconds


class Machine:
    """Uses a second of processor time between looks."""

    is_counted = True
    status: int | None = None
    pid = 0

    def exit_status(self) -> int | None:
        return self.status


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    used = iter(range(1000))
    monkeypatch.setattr(standstill, "processor_seconds", lambda _: float(next(used)))
    return Machine()


def watch(beats: int | None, state: str = "running") -> Any:
    return SimpleNamespace(state=state, stats=None, restarts=0, heartbeat=None if beats is None else Heartbeat(beats, 1000000, 0, 0))


def session(machine: Machine, *watches: Any) -> Session:
    return cast(Session, SimpleNamespace(machine=machine, watches=dict(enumerate(watches))))


def notices(of: Session, looks: int) -> int:
    found = Standstill(of, patience=5.0)
    return sum(bool(found.notice()) for _ in range(looks))


def test_it_is_noticed_once(machine: Machine) -> None:
    assert notices(session(machine, watch(3), watch(7, "parked")), 50) == 1


def test_not_before_its_time(machine: Machine) -> None:
    assert notices(session(machine, watch(3)), 5) == 0


def test_again_when_something_has_moved_between(machine: Machine) -> None:
    one = watch(3)
    found = Standstill(session(machine, one), patience=5.0)
    assert sum(bool(found.notice()) for _ in range(10)) == 1
    one.heartbeat = Heartbeat(4, 1000000, 0, 0)
    assert sum(bool(found.notice()) for _ in range(10)) == 1


@pytest.mark.parametrize("one", [watch(None), watch(3, "parked"), watch(3, "off")])
def test_who_promised_no_beat_is_not_missed(machine: Machine, one: Any) -> None:
    assert notices(session(machine, one), 50) == 0


@pytest.mark.parametrize("what", [{"is_counted": False}, {"status": 0}])
def test_only_a_machine_that_counts_and_runs(machine: Machine, what: dict[str, Any]) -> None:
    for name, value in what.items():
        setattr(machine, name, value)
    assert notices(session(machine, watch(3)), 50) == 0


def test_processor_time_is_this_process_s() -> None:
    times = os.times()
    assert abs(processor_seconds(os.getpid()) - times.user - times.system) < 1.0
