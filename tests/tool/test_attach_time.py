# SPDX-License-Identifier: Apache-2.0
"""BH-F3.run. Who is attached to a sandbox is told whose time its guests have, and what cannot be had is refused before anything starts."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.machine.session import Session
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
    monkeypatch.setattr(run, "Attachment", lambda *_: SimpleNamespace(run=lambda *_: True))
    session: Any = SimpleNamespace(machine=SimpleNamespace(is_counted=is_counted), plan=None, watches={})
    monkeypatch.setattr(run, "Show", lambda *_: SimpleNamespace(event=None))
    run.attach_console(cast(Session, session), "north", Screen(), math.inf)
    assert f"attached to north; {said}Enter gives a prompt, Ctrl-] leaves" in capfd.readouterr().err


@pytest.mark.parametrize(("in_time", "status"), [(True, Status.GOOD), (False, Status.TIME_LIMIT)])
def test_who_is_attached_for_too_long_is_told(
    in_time: bool, status: Status, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "Attachment", lambda *_: SimpleNamespace(run=lambda limit, _: in_time and limit == 7.0))
    session: Any = SimpleNamespace(machine=SimpleNamespace(is_counted=True), plan=None, watches={})
    monkeypatch.setattr(run, "Show", lambda *_: SimpleNamespace(event=None))
    assert run.attach_console(cast(Session, session), "north", Screen(), 7.0) == status
    assert ("still attached to north after 7 s" in capfd.readouterr().err) == (not in_time)
