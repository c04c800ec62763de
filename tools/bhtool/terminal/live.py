# SPDX-License-Identifier: Apache-2.0
"""A terminal whose last rows tell how things are, while lines scroll above them.

One thread writes, a frame in one piece: lines that came meanwhile, then the status rows anew. So no two writers meet in one row, an
interrupt never leaves half a frame, and a flood of lines costs a few writes a second.

        lines that have been said              lines that have been said
        lines that have been said              lines that have been said
        --- status, row 1         <- top       lines that are new
            status, row 2         <- cursor    --- status, row 1             <- top
                                                   status, row 2             <- cursor
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import FrameType, TracebackType
from typing import Protocol, Self

from rich.text import Text

from bhtool.terminal import tty

TICK_SECONDS = 0.25  # between frames when nothing is said
REST_SECONDS = 0.05  # at least, between two frames
HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
ERASE_BELOW, ERASE_ROW = "\x1b[J", "\x1b[K"


class Bottom(Protocol):
    """What stands in the last rows. Drawn by the writer's thread, so it must not change."""

    def rows(self, columns: int, rows: int, seconds: float) -> list[Text]:
        """At most `rows` of them, for a terminal that is so wide; `seconds` have passed since the display began."""


class Live:
    """Use as a context manager. Nobody else writes to the terminal between entering and leaving."""

    def __init__(self, descriptor: int, bottom: Bottom, render: Callable[[Text], str], encoding: str) -> None:
        self._descriptor, self._bottom, self._render, self._encoding = descriptor, bottom, render, encoding
        self._started = time.monotonic()
        self._lines: list[str] = []
        self._painted: list[tuple[int, str]] = []  # of each status row on the terminal: its cells, and what was written
        self._size = (0, 0)  # of the terminal then
        self._wake, self._stop = threading.Event(), threading.Event()
        self._lock = threading.Lock()  # held while a frame is written
        self._is_suspended = False
        self._stack = ExitStack()

    def above(self, text: str) -> None:
        """Whole lines without the last line's end, to scroll above the status."""
        self._lines.append(text)
        self._wake.set()

    def show(self, bottom: Bottom) -> None:
        self._bottom = bottom

    def __enter__(self) -> Self:
        self._open()
        self._before = signal.signal(signal.SIGTSTP, self._suspend)
        self._thread = threading.Thread(target=self._work, name="display", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        self._wake.set()
        try:
            self._thread.join()
        finally:
            signal.signal(signal.SIGTSTP, self._before)
            self._close()

    def _open(self) -> None:
        self._stack.enter_context(tty.keys_unseen())
        self._write(HIDE_CURSOR)

    def _close(self) -> None:
        """The last lines, no status, and the terminal as it was."""
        with self._lock:
            self._frame([])
            self._write(SHOW_CURSOR)
        self._stack.close()

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z: the shell gets a clean terminal, and the display comes back with `fg`."""
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        self._is_suspended = True
        self._close()
        os.kill(os.getpid(), signal.SIGTSTP)
        if tty.is_foreground(self._descriptor):
            self._open()
        self._is_suspended = False
        signal.signal(signal.SIGTSTP, self._suspend)

    def _work(self) -> None:
        while not self._stop.is_set():
            self._wake.wait(TICK_SECONDS)
            self._wake.clear()
            with self._lock:
                if not (self._stop.is_set() or self._is_suspended):
                    self._frame(self._rows())
            self._stop.wait(REST_SECONDS)

    def _rows(self) -> list[tuple[int, str]]:
        """The status for the terminal as it is now; none while a shell owns it."""
        if not tty.is_foreground(self._descriptor):
            return []
        columns, rows = tty.size(self._descriptor)
        found = self._bottom.rows(columns - 1, max(1, rows // 2), time.monotonic() - self._started)
        for row in found:
            row.truncate(columns - 1, overflow="ellipsis")
        return [(row.cell_len, self._render(row)) for row in found]

    def _frame(self, rows: list[tuple[int, str]]) -> None:
        count = len(self._lines)
        lines, self._lines[:count] = self._lines[:count], []
        size = tty.size(self._descriptor)
        if not lines and rows == self._painted and size == self._size:
            return
        erase = ERASE_BELOW if lines or len(rows) < len(self._painted) or size != self._size else ""
        said = "".join(f"{line}\n" for line in lines)
        status = "\n".join(ERASE_ROW + text for _, text in rows)
        self._write(self._to_top(size[0]) + erase + said + status)
        self._painted, self._size = rows, size

    def _to_top(self, columns: int) -> str:
        """From the end of the last status row to the start of the first. A terminal that became narrower has wrapped them."""
        up = sum(max(1, -(-cells // columns)) for cells, _ in self._painted) - 1
        return "\r" + (f"\x1b[{up}A" if up > 0 else "")

    def _write(self, text: str) -> None:
        with suppress(OSError):  # the terminal is gone; the run goes on, or ends by a signal of its own
            tty.write(self._descriptor, text.encode(self._encoding, "replace"))
