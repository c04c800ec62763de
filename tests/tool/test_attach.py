# SPDX-License-Identifier: Apache-2.0
"""Who types to a sandbox, or to gdb, needs the terminal: a job in its background, as below `timeout`, is refused, and is never stopped."""

import os
import sys
from types import SimpleNamespace
from typing import Any, cast

import pexpect
import pytest
from bhtool import paths
from bhtool.errors import Status
from bhtool.machine.attach import Attachment
from bhtool.machine.session import EndEvent, Event, Session

SECONDS = 30
NATIVE = paths.PARTITIONS / "native.dts"
PYTHON = f"{sys.executable} -m"


def on_a_terminal(command: str) -> tuple[str, int]:
    """What a command says on a terminal that is the shell's too, and how it ends. Something has been typed."""
    environment = {"PYTHONPATH": f"{paths.ROOT}:{paths.ROOT / 'tools'}", "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    shell = pexpect.spawn("/bin/bash", ["-c", f"{command}; echo ended with $?"], timeout=SECONDS, encoding="utf-8", env=environment)
    try:
        shell.sendline("typed")
        shell.expect(r"ended with (\d+)")
        return str(shell.before), int(cast(Any, shell.match)[1])
    finally:
        shell.close(force=True)


@pytest.mark.parametrize(("verb", "what"), [("run --attach north", "--attach"), ("debug north", "debug without --command")])
def test_a_job_in_the_background_is_refused_before_anything_starts(verb: str, what: str) -> None:
    said, status = on_a_terminal(f"timeout -k 5 20 {PYTHON} bhtool {verb} --partition {NATIVE}")
    assert status == Status.USAGE, said
    why = f"{what} needs the terminal's foreground; it is in the background of this one (with timeout: `timeout --foreground`)"
    assert said.splitlines()[1:] == [f"bulkhead: {why}"]


@pytest.mark.parametrize("begins", ["foreground", "background"])
def test_an_attached_job_in_the_background_is_not_stopped(begins: str) -> None:
    said, status = on_a_terminal(f"{PYTHON} tests.tool.test_attach {begins}")
    assert status == (Status.GOOD if begins == "foreground" else Status.FAILED), said
    assert ("needs the terminal's foreground" in said) == (begins == "background")


def attached(begins: str) -> None:
    """A session that ends by itself, and a terminal that is lost before it or in its middle."""

    def poll() -> list[Event]:
        polls.append(len(polls))
        if begins == "foreground" and len(polls) == 1:
            os.setpgid(0, 0)
        return [EndEvent(0, "")] if len(polls) > 5 else []

    polls: list[int] = []
    session = SimpleNamespace(watches={"a": SimpleNamespace(console=None, ready=True)}, poll=poll)
    if begins == "background":
        os.setpgid(0, 0)
    Attachment(cast(Session, session), "a").run(SECONDS, lambda _: None)


if __name__ == "__main__":
    attached(sys.argv[1])
