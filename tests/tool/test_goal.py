# SPDX-License-Identifier: Apache-2.0
"""A run ends when it has shown what it was to show, when nothing more can come, and when somebody waits in vain."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bhtool.machine.goal import LINUX_SECONDS, SILENCE_SECONDS, TALK_FACTOR, Goal, lacking
from bhtool.machine.session import Session, Watch
from bhtool.machine.signs import Panic, Signs

PATIENCE = SILENCE_SECONDS[True]


class Machine:
    is_counted = True
    pid = 1
    near_timer = None

    def exit_status(self) -> int | None:
        return None


def watch(name: str = "one", state: str = "running", os: str = "native", **more: Any) -> Any:
    about = {"ready_line": "", "initrd": "", "console": "uart0", "restarts": False, **more}
    settled = state in ("ready", "parked", "panicked")
    return SimpleNamespace(plan=SimpleNamespace(name=name, os=os, **about), state=state, settled=settled, panic=None, signs=Signs())


class Run:
    """A session of which time is what it is told."""

    def __init__(self, *watches: Any, seconds: float | None = None, until_ready: bool = True, may_end: tuple[str, ...] = ()) -> None:
        self.now, self.watches = 0.0, watches
        plan, names = SimpleNamespace(file=Path("/nowhere/f.dts")), {one.plan.name: one for one in watches}
        session = SimpleNamespace(machine=Machine(), plan=plan, watches=names, guest_seconds=lambda: self.now)
        self.goal = Goal(cast(Session, session), seconds, until_ready, may_end)

    def at(self, now: float) -> str:
        """What is said then of a goal that is not to be reached."""
        self.now += 0.001
        self.goal.hopeless()  # a look when the clock moved last
        self.now = now
        return self.goal.hopeless()


def test_who_is_silent_is_not_waited_for_for_ever() -> None:
    run = Run(watch(), watch("two", "ready"))
    assert run.at(PATIENCE / 2) == ""
    assert "one did not get ready" in run.at(PATIENCE + 1)


def test_kernels_that_take_turns_have_longer() -> None:
    run = Run(watch("one", os="linux"), watch("two", os="linux"), watch("native", "ready"))
    assert run.at(2 * LINUX_SECONDS - 1) == ""
    assert "did not get ready" in run.at(2 * LINUX_SECONDS + 1)


def test_who_talks_has_longer() -> None:
    one = watch()
    run = Run(one)
    for now in range(1, int(TALK_FACTOR * PATIENCE), 20):
        one.signs.count += 1
        assert run.at(float(now)) == ""
    one.signs.count += 1
    assert "did not get ready" in run.at(TALK_FACTOR * PATIENCE + 1)


@pytest.mark.parametrize(
    ("one", "seconds"),
    [(watch(state="ready"), None), (watch(), 1000.0), (watch(os="linux", initrd="rootfs.cpio.gz"), None)],
    ids=["is ready", "was given a time", "is known to say its line"],
)
def test_who_is_waited_for(one: Any, seconds: float | None) -> None:
    assert Run(one, seconds=seconds).at(10 * TALK_FACTOR * PATIENCE) == ""


def panicked(**more: Any) -> Any:
    one = watch("linux", "panicked", "linux", **more)
    one.panic = Panic("VFS: Unable to mount root fs on unknown-block(0,0)", ("before", "the panic"))
    return one


def test_a_panic_ends_a_run_in_its_own_words() -> None:
    said = Run(panicked(), seconds=1000.0).at(1.0)
    assert said.splitlines()[0].startswith(
        "linux had a kernel panic: VFS: Unable to mount root fs on unknown-block(0,0); its initrd is missing"
    )
    assert said.splitlines()[1:] == ["  before", "  the panic"]
    assert "panic=1" not in said
    assert "panic=1" in Run(panicked(restarts=True)).at(1.0)


def test_a_panic_that_was_expected_does_not() -> None:
    run = Run(panicked(), watch("two", "ready"), seconds=1000.0, may_end=("linux",))
    assert run.at(1.0) == ""
    assert not run.goal.reached()


@pytest.mark.parametrize(
    ("about", "signs", "part"),
    [
        ({}, Signs(), "the hypercall READY"),
        ({"os": "linux"}, Signs(last="random: crng init done"), 'its last line: "random: crng init done"'),
        ({"os": "linux"}, Signs(wanted="up and running"), 'has not said "up and running"'),
        ({"os": "linux", "console": "none"}, Signs(), "no console"),
    ],
)
def test_what_is_lacking_is_said(about: dict[str, Any], signs: Signs, part: str) -> None:
    one = watch(**about)
    one.signs = signs
    assert part in lacking(cast(Watch, one))
