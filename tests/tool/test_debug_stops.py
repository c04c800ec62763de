# SPDX-License-Identifier: Apache-2.0
"""`bulkhead debug` at its prompt: gdb comes back from a timer's interrupt, from a sleep and from Ctrl-C, in a sandbox alone and beside others."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest
from bhtool import paths

from tests.tool.test_debug import NATIVE, PLATFORMS

LIMIT = 120
PROMPT = "(gdb) "
ORDINARY = ("qemu-aarch64", True)
CASES = [
    pytest.param(*case, id=f"{case[0]}-{'alone' if case[1] else 'beside'}", marks=() if case == ORDINARY else pytest.mark.long)
    for platform in PLATFORMS
    for case in ((platform, True), (platform, False))
]
pytestmark = pytest.mark.slow


def alone(folder: Path) -> Path:
    """Only `east`: nothing else in the machine has a timer."""
    text = NATIVE.read_text()
    for name in ("north", "south", "west"):
        start = text.index(f"\t\t{name}: {name} {{\n")
        text = text[:start] + text[text.index("\t\t};\n", start) + len("\t\t};\n") :].lstrip("\n")
    file = folder / "alone.dts"
    file.write_text(text)
    return file


@contextmanager
def session(platform: str, partition: Path) -> Iterator[pexpect.spawn[str]]:
    words = ["-m", "bhtool", "debug", "east", "--platform", platform, "--partition", str(partition)]
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools"), "TERM": "dumb"}
    gdb = pexpect.spawn(sys.executable, words, timeout=LIMIT, encoding="utf-8", env=environment, dimensions=(100, 160))
    try:
        gdb.expect_exact(PROMPT)
        yield gdb
        gdb.sendline("kill")
        gdb.expect_exact("(y or n) ")
        gdb.sendline("y")
        gdb.expect_exact(PROMPT)
        gdb.sendline("quit")
        gdb.expect(pexpect.EOF)
    finally:
        gdb.close(force=True)


def said(gdb: pexpect.spawn[str], command: str) -> str:
    gdb.sendline(command)
    gdb.expect_exact(PROMPT)
    return str(gdb.before)


def interrupted(gdb: pexpect.spawn[str], command: str, sign: str) -> None:
    """Ctrl-C once `sign` shows that the command is at work."""
    gdb.sendline(command)
    gdb.expect_exact(sign)
    gdb.sendintr()
    gdb.expect("SIGINT|Quit")  # gdb's own word, if it was not waiting for the machine
    gdb.expect_exact(PROMPT)


@pytest.mark.parametrize(("platform", "is_alone"), CASES)
def test_it_comes_back(platform: str, is_alone: bool, tmp_path: Path) -> None:
    with session(platform, alone(tmp_path) if is_alone else NATIVE) as gdb:
        said(gdb, "break beat")
        assert "Breakpoint 1, beat" in said(gdb, "continue")  # in the timer's interrupt, which is pending still
        for _ in range(3):
            said(gdb, "stepi")
            assert "beat + " in said(gdb, "info symbol $pc")
        assert "heartbeat.c" in said(gdb, "next") + said(gdb, "frame")
        assert "timer.c" in said(gdb, "finish") + said(gdb, "frame")
        assert "Breakpoint 1, beat" in said(gdb, "continue")
        said(gdb, "delete 1")
        interrupted(gdb, "continue", "beats, 0 gaps")  # no stop has cost the clock a beat
        interrupted(gdb, "stepi 10000000", "10000000")
        said(gdb, "tbreak cpu_sleep_before_interrupt")
        said(gdb, "continue")
        for _ in range(4):  # past the sleep
            said(gdb, "stepi")
        assert "idle_until" in said(gdb, "backtrace 8")
