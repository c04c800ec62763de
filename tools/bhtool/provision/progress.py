# SPDX-License-Identifier: Apache-2.0
"""How far a download or a build has come, before and beside the tool's own display: one line that is rewritten on a terminal, a line for every
quarter anywhere else. Standard library only."""

import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

from bhtool.terminal import tty
from bhtool.text import visible

Report = Callable[[str], None]  # takes "WHAT: HOW FAR"; a report of the same thing replaces the last one where that can be
OFTEN_SECONDS = 0.2
MEGABYTE = 1_000_000  # as APT and pip count


def silent(text: str) -> None:
    """For what nobody waits for."""


def megabytes(size: float) -> str:
    return f"{size / MEGABYTE:.0f}" if size >= 100 * MEGABYTE else f"{size / MEGABYTE:.1f}"


class Steps:
    """Hands reports on as often as whoever reads them likes. Use as a callable: `steps(0.25)`."""

    def __init__(self, what: str, report: Report, size: int = 0) -> None:
        """`size`: of all that is to be downloaded, in bytes; 0: not known."""
        self._what, self._report, self._size = what, report, size
        self._can_rewrite = tty.can_be_live()
        self._at, self._told = 0.0, time.monotonic()

    def __call__(self, share: float, note: str = "") -> None:
        """`share`: between 0 and 1; what is after the last is not told."""
        share = min(max(share, 0.0), 1.0)
        now = time.monotonic()
        is_due = now - self._told >= OFTEN_SECONDS if self._can_rewrite else int(share * 4) > int(self._at * 4)
        if share <= self._at or not (is_due or share == 1.0):
            return
        self._at, self._told = share, now
        far = f"{megabytes(share * self._size)} of {megabytes(self._size)} MB" if self._size else f"{share:.0%}"
        self._report(f"{self._what}: {far}" + (f", {note}" if note else ""))


class OneLine:
    """A Report for a terminal or a pipe: what goes on with the same thing, up to the colon, replaces it on a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._can_rewrite = tty.can_be_live()
        self._what, self._is_open = "", False

    def __call__(self, text: str) -> None:
        what = text.partition(": ")[0]
        if self._is_open:
            self._stream.write("\r\x1b[K" if what == self._what else "\n")
        columns = tty.size(1)[0]
        self._stream.write(visible(text)[: columns - 1] if self._can_rewrite else visible(text) + "\n")
        self._stream.flush()
        self._what, self._is_open = what, self._can_rewrite

    def end(self) -> None:
        """Whoever writes next begins a line."""
        if self._is_open:
            self._stream.write("\n")
            self._stream.flush()
        self._is_open = False


def share_of_apt(line: str, kind: str) -> tuple[float, str] | None:
    """(how far, with what) of a line of APT::Status-Fd, such as `dlstatus:3:45.2:Retrieving file 3 of 12`; None: it tells something else."""
    found = line.rstrip("\n").split(":", 3)
    if len(found) < 4 or found[0] != kind:
        return None
    try:
        return float(found[2]) / 100, found[3]
    except ValueError:
        return None


def lines_of(descriptor: int) -> TextIO:
    return os.fdopen(descriptor, encoding="utf-8", errors="replace")
