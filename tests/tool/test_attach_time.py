# SPDX-License-Identifier: Apache-2.0
"""BH-F3.run. Who is attached to a sandbox is told whose time its guests have, and what cannot be had is refused before anything starts."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.machine.attach import Left
from bhtool.machine.session import EndEvent, Session
from bhtool.platforms import load
from bhtool.terminal.screen import Screen
from bhtool.verbs import run

from tests.tool.conftest import Inside

NATIVE = paths.PARTITIONS / "native.dts"


def test_counted_time_is_refused(inside: Inside, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    status = inside("run", "--partition", str(NATIVE), "--attach", "north", "--time", "exact", "--log", str(log))
    assert status == Status.USAGE
    text = "--attach makes guest time follow this host on qemu-aarch64, so it excludes --time exact; leave out one of them"
    assert text in " ".join(capfd.readouterr().err.split())
    assert not log.exists()


@pytest.mark.parametrize(("platform", "clock"), [("qemu-svm", "auto"), ("qemu-svm", "host"), ("bochs-vtx", "exact"), ("bochs-vtx", "auto")])
def test_other_times_are_not(platform: str, clock: str) -> None:
    """Bochs counts, whatever is asked for."""
    run.require_time_for_attach(clock, load(platform))


def test_every_other_machine_refuses_it() -> None:
    with pytest.raises(BulkheadError, match="excludes --time exact"):
        run.require_time_for_attach("exact", load("qemu-svm"))


@pytest.mark.parametrize(("is_counted", "said"), [(False, "guest time follows this host; "), (True, "")])
def test_who_is_attached_is_told_whose_time_it_is(
    is_counted: bool, said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "Attachment", lambda *_: SimpleNamespace(run=lambda *_: Left.BY_USER))
    session: Any = SimpleNamespace(machine=SimpleNamespace(is_counted=is_counted), plan=None, watches={})
    monkeypatch.setattr(run, "Show", lambda *_: SimpleNamespace(event=None))
    run.attach_console(cast(Session, session), "north", Screen(), math.inf)
    assert f"attached to north; {said}Enter gives a prompt, unless a program reads what is typed; Ctrl-] leaves" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("left", "status", "said"),
    [
        (Left.BY_USER, Status.GOOD, ""),
        (Left.TIME_LIMIT, Status.TIME_LIMIT, "still attached to north after 7 s"),
        (EndEvent(3, "out of memory"), Status.FAILED, "the machine ended early, status 3: out of memory"),
        (EndEvent(0, ""), Status.GOOD, ""),
    ],
)
def test_how_it_ended_is_told(
    left: Left | EndEvent, status: Status, said: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def run_for(limit: float, _: object) -> Left | EndEvent:
        assert limit == 7.0
        return left

    monkeypatch.setattr(run, "Attachment", lambda *_: SimpleNamespace(run=run_for))
    platform = SimpleNamespace(emulator=SimpleNamespace(good_exits=[0]))
    session: Any = SimpleNamespace(machine=SimpleNamespace(is_counted=True), plan=None, watches={}, platform=platform)
    monkeypatch.setattr(run, "Show", lambda *_: SimpleNamespace(event=None))
    assert run.attach_console(cast(Session, session), "north", Screen(), 7.0) == status
    told = capfd.readouterr().err.partition("Ctrl-] leaves")[2]
    assert said in told if said else "bulkhead" not in told
