# SPDX-License-Identifier: Apache-2.0
"""A terminal in memory: starts a program on it, and tells what a user sees and could scroll back to."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyte
from bhtool.paths import ROOT

LIMIT = 60.0
SCROLLBACK = 20_000


@dataclass
class Terminal:
    columns: int
    rows: int
    data: bytes = b""
    frames: list[list[str]] = field(default_factory=list)  # the screen after each piece that was read

    def __post_init__(self) -> None:
        self.screen = pyte.HistoryScreen(self.columns, self.rows, history=SCROLLBACK, ratio=0.5)
        self._stream = pyte.ByteStream(self.screen)
        self.screen.set_mode(pyte.modes.LNM)

    def feed(self, data: bytes) -> None:
        self.data += data
        self._stream.feed(data)
        self.frames.append(self.shown())

    def shown(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    def lines(self) -> list[str]:
        """What scrolled off the screen, and what is on it, without blank lines at the end."""
        past = ["".join(row[x].data for x in range(self.columns)).rstrip() for row in self.screen.history.top]
        every = past + self.shown()
        while every and not every[-1]:
            every.pop()
        return every


@dataclass(frozen=True)
class Ended:
    terminal: Terminal
    status: int
    out: str  # what went to pipes
    err: str
    settings: bool  # whether the terminal's own are what they were


def resize(descriptor: int, columns: int, rows: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


Then = Callable[[subprocess.Popen[bytes], Terminal, int], None]


def play(
    *arguments: str | Path,
    columns: int = 80,
    rows: int = 24,
    piped: str = "",
    then: Then | None = None,
    environment: dict[str, str] | None = None,
) -> Ended:
    """Runs `python -m ARGUMENTS` on a terminal, apart from what is `piped` ("out", "err"); `then` is called after every piece of output."""
    master, slave = pty.openpty()
    resize(slave, columns, rows)
    before = termios.tcgetattr(slave)
    places = {"out": subprocess.PIPE if "out" in piped else slave, "err": subprocess.PIPE if "err" in piped else slave}
    named = {"TERM": "xterm-256color", "PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{ROOT / 'tools'}", "LANG": "C.UTF-8"}
    command = [sys.executable, "-m", *map(str, arguments)]
    program = subprocess.Popen(
        command, stdin=slave, stdout=places["out"], stderr=places["err"], env=named | (environment or {}), start_new_session=True, cwd=ROOT
    )
    terminal = Terminal(columns, rows)
    kept = dict.fromkeys(("out", "err"), b"")
    deadline = time.monotonic() + LIMIT
    try:
        watch(program, terminal, master, kept, then, deadline)
        program.wait(LIMIT)
        settings = termios.tcgetattr(slave) == before
    finally:
        program.kill()
        program.wait()
        for descriptor in (master, slave):
            os.close(descriptor)
    return Ended(terminal, program.returncode, kept["out"].decode(), kept["err"].decode(), settings)


def watch(
    program: subprocess.Popen[bytes], terminal: Terminal, master: int, kept: dict[str, bytes], then: Then | None, deadline: float
) -> None:
    """Reads until the program has ended and nothing is left."""
    pipes = {stream.fileno(): name for name, stream in (("out", program.stdout), ("err", program.stderr)) if stream}
    while time.monotonic() < deadline:
        is_over = program.poll() is not None
        ready = select.select([master, *pipes], [], [], 0 if is_over else 0.02)[0]
        for descriptor in ready:
            with suppress(OSError):
                data = os.read(descriptor, 1 << 16)
                if descriptor in pipes:
                    kept[pipes[descriptor]] += data
                    if not data:
                        del pipes[descriptor]
                else:
                    terminal.feed(data)
        if is_over and not ready:
            return
        if then:
            then(program, terminal, master)
