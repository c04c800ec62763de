# SPDX-License-Identifier: Apache-2.0
"""What a sandbox's console tells of its software: that it is up, or that a Linux has given up."""

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bhtool.image.payloads import READY_LINE

FIRST_PROCESS = re.compile(r"\bRun (\S+) as init process")  # Linux, init/main.c, run_init_process(): unseen with `quiet`
PROMPT = re.compile(r"(?:login:|[#$]) $")  # of a line that has not ended
PANIC = "Kernel panic - not syncing: "  # Linux, kernel/panic.c, panic(), as what follows
REBOOTS, ENDED = re.compile(r"\bRebooting in \d+ seconds"), "---[ end Kernel panic"  # the latter only where no reboot follows
LINES_BEFORE, LINES_AFTER = 6, 3  # of a panic, that are kept
PATIENCE_SECONDS = 5.0  # of guest time, for either to be said
REMEDIES = (
    (
        "Unable to mount root",
        "its initrd is missing, has no /init or could not be unpacked, and no root= in `bootargs` names a disk it has",
    ),
    (
        "No working init found",
        "its root file system has no /init, or one that cannot be executed: without its x bit, of another processor, or without its libraries",
    ),
    ("Requested init", "`bootargs` names a first process that cannot be executed"),
    ("Attempted to kill init", "its first process, /init, has ended; it must not"),
    ("deadlocked on memory", "it needs more RAM: enlarge its `memory-region`"),
    ("Out of memory", "it needs more RAM: enlarge its `memory-region`"),
)


@dataclass(frozen=True)
class Panic:
    """A Linux kernel's end, in its own words."""

    text: str
    lines: tuple[str, ...]  # around it

    @property
    def remedy(self) -> str:
        """What usually helps; empty if nobody knows."""
        return next((remedy for sign, remedy in REMEDIES if sign in self.text), "")


@dataclass
class Signs:
    """Looks at the lines of one console as they come."""

    wanted: str = ""  # `ready-line`, or what the tool's own root file system says; empty: neither
    is_linux: bool = False
    up: str = ""  # why the software counts as up; empty: it does not
    panic: Panic | None = None  # once it is clear that no reboot follows
    last: str = ""  # line
    count: int = 0  # of lines
    _recent: deque[str] = field(default_factory=lambda: deque(maxlen=LINES_BEFORE))
    _panicking: list[str] = field(default_factory=list)  # the lines of a panic so far
    _before: tuple[str, ...] = ()
    _since: float = 0.0  # guest seconds
    _reboots: bool = False

    def see(self, lines: Sequence[str], unfinished: str, now: Callable[[], float]) -> None:
        """What is new, and what has not ended yet; `now`: guest seconds."""
        for line in lines:
            self._see_line(line, now)
        if not self.up and not self.wanted and self.is_linux and PROMPT.search(unfinished):
            self.up = f"it asks for input, {unfinished.strip()!r}"
        if self._panicking and self.panic is None and not self._reboots and now() - self._since >= PATIENCE_SECONDS:
            self._end()

    def begin_again(self) -> None:
        """The sandbox has a new life."""
        self.panic, self._panicking, self._reboots = None, [], False

    def _see_line(self, line: str, now: Callable[[], float]) -> None:
        self.count += 1
        self.last = line.strip() or self.last
        self.up = self.up or self._up(line)
        if self.is_linux and (self._panicking or PANIC in line):
            self._see_panic(line, now)
        elif line.strip():
            self._recent.append(line)

    def _up(self, line: str) -> str:
        if self.wanted:
            return f"it said {self.wanted!r}" if self.wanted in line else ""
        found = FIRST_PROCESS.search(line) if self.is_linux else None
        return f"its kernel runs {found[1]}" if found else ""

    def _see_panic(self, line: str, now: Callable[[], float]) -> None:
        if not self._panicking:
            self._before, self._since = tuple(self._recent), now()
        if len(self._panicking) <= LINES_AFTER:  # who goes on for ever is not kept
            self._panicking.append(line)
        self._reboots = self._reboots or bool(REBOOTS.search(line))
        if ENDED in line and self.panic is None and not self._reboots:
            self._end()

    def _end(self) -> None:
        text = self._panicking[0].partition(PANIC)[2].strip()
        self.panic = Panic(text, (*self._before, *self._panicking[: 1 + LINES_AFTER]))


def signs_of(os: str, ready_line: str, is_own_root: bool) -> Signs:
    """`is_own_root`: a Linux starts from a root file system that the tool knows nothing of."""
    is_linux = os == "linux"
    return Signs(ready_line or (READY_LINE if is_linux and not is_own_root else ""), is_linux)
