# SPDX-License-Identifier: Apache-2.0
"""The timer that is always near is taken away and given back, as QEMU's machine protocol has it."""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from bhtool.machine import near_timer
from bhtool.machine.near_timer import FILTER, TIMER, NearTimer


class Emulator:
    """Greets, and answers each command; in between it tells of an event."""

    def __init__(self, refuses: str = "") -> None:
        self.near, self._far = socket.socketpair()
        self.heard: list[dict[str, Any]] = []
        self._refuses = refuses
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        self._say({"QMP": {"version": {}, "capabilities": []}})
        for line in self._far.makefile():
            self.heard.append(json.loads(line))
            self._say({"event": "RESUME"})
            command = self.heard[-1]
            answer: dict[str, object] = {"error": {}} if command["execute"] == self._refuses else {"return": {}}
            self._say({**answer, "id": command["id"]})

    def _say(self, what: object) -> None:
        self._far.sendall(json.dumps(what).encode() + b"\r\n")

    def close(self) -> None:
        self.near.close()
        self._thread.join()
        self._far.close()


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    one = Emulator()
    yield one
    one.close()


def test_it_is_taken_away_and_given_back(emulator: Emulator) -> None:
    timer = NearTimer(emulator.near)
    assert timer.take_away()
    assert not timer.is_set
    timer.give_back()
    assert timer.is_set
    assert emulator.heard == [
        {"execute": "qmp_capabilities", "id": 1},
        {"execute": "object-del", "arguments": {"id": TIMER}, "id": 2},
        {"execute": "object-add", "arguments": FILTER, "id": 3},
    ]


def test_it_stays_where_the_emulator_refuses() -> None:
    emulator = Emulator(refuses="object-del")
    timer = NearTimer(emulator.near)
    assert not timer.take_away()
    assert timer.is_set
    emulator.close()


def test_it_stays_where_the_emulator_has_ended() -> None:
    near, far = socket.socketpair()
    far.close()
    with near:
        assert not NearTimer(near).take_away()


def test_an_emulator_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_timer, "ANSWER_SECONDS", 0.01)
    near, far = socket.socketpair()
    with near, far:
        assert not NearTimer(near).take_away()


def say(far: socket.socket, *answers: object) -> None:
    far.sendall(b"".join(json.dumps(one).encode() + b"\r\n" for one in answers))


def test_a_late_answer_is_that_of_its_own_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The timer is taken away too late to be waited for; that it cannot be given back is said of the second command, not of the first."""
    monkeypatch.setattr(near_timer, "ANSWER_SECONDS", 0.01)
    near, far = socket.socketpair()
    with near, far:
        timer = NearTimer(near)
        say(far, {"QMP": {}}, {"return": {}, "id": 1})
        assert not timer.take_away()
        say(far, {"return": {}, "id": 2}, {"error": {}, "id": 3})
        timer.give_back()
        assert not timer.is_set


def test_what_nobody_asked_for_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_timer, "ANSWER_SECONDS", 0.01)
    near, far = socket.socketpair()
    with near, far:
        timer = NearTimer(near)
        say(far, {"return": {}, "id": 1}, {"return": {}}, {"return": {}, "id": 7}, {"error": {}, "id": "2"})
        assert not timer.take_away()
        assert timer.is_set
