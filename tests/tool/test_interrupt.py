# SPDX-License-Identifier: Apache-2.0
"""BH-F3.run. A run that is interrupted, or whose time is over, attached or not, ends with its table."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from bhtool import children, paths
from bhtool.children import interruptible
from bhtool.errors import Status

NATIVE = paths.PARTITIONS / "native.dts"
COMMAND = [sys.executable, "-m", "bhtool", "run", "--partition", str(NATIVE)]
TABLE = "guest time"


@pytest.fixture
def handler() -> Iterator[None]:
    """As it was."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0)  # where Python hears of it


@pytest.mark.usefixtures("handler")
def test_a_request_is_heard_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes later is another."""
    done = []
    with interruptible():
        interrupt()
        done.append("not reached")
    interrupt()
    done.append("table")
    assert done == ["table"]
    monkeypatch.setattr(children, "time", type("Later", (), {"monotonic": staticmethod(lambda: time.monotonic() + 2)}))
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def started(*arguments: str) -> subprocess.Popen[str]:
    """In a group of its own, with a standard input that says nothing."""
    environment = {"PYTHONPATH": str(paths.ROOT / "tools"), "PATH": "/usr/bin:/bin"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*COMMAND, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment, start_new_session=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--seconds", "100000"), ("--attach", "north")], ids=["run", "attached"])
def test_two_interrupts_at_once_are_one(arguments: tuple[str, str], tmp_path: Path) -> None:
    """As `timeout -s INT` sends them: to the command, and to its group."""
    with started(*arguments, "--limit", "100", "--json", str(tmp_path / "run.json")) as tool:
        assert tool.stdout is not None
        assert tool.stderr is not None
        assert any("alive" in line for line in tool.stdout)
        tool.send_signal(signal.SIGINT)
        time.sleep(0.01)
        os.killpg(tool.pid, signal.SIGINT)
        rest, said = tool.stdout.read(), tool.stderr.read()
    assert tool.returncode == Status.INTERRUPTED, said
    assert TABLE in rest


@pytest.mark.slow
def test_an_attached_run_has_a_limit_where_one_is_given() -> None:
    with started("--attach", "north", "--limit", "3") as tool:
        assert tool.stdout is not None
        assert tool.stderr is not None
        rest, said = tool.stdout.read(), tool.stderr.read()
    assert tool.returncode == Status.TIME_LIMIT, said
    assert "still attached to north after 3 s" in said
    assert TABLE in rest
