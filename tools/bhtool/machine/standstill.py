# SPDX-License-Identifier: Apache-2.0
"""A machine whose clock stands still where instructions are counted (docs/testing.md, "What a machine's time means").

A guest that takes exceptions without end, each as the first instruction of its handler, executes none: the machine computes, and nobody comes on.
And where every core sleeps and no timer is set, nothing is left for the clock to go on to but the timer that the tool has put there (near_timer.py):
without that the clock stands, and the machine sleeps.
"""

import os
import time
from pathlib import Path

from bhtool.machine.session import Session

PATIENCE_SECONDS = 15.0  # of the emulator's processor time; a thousand beats or more anywhere
SLEEP_SECONDS = 1.0  # of the host's
# Of it, that one look shows at most: a look that waits for the emulator's answer may be what the machine waits for, as nobody reads its consoles then.
LOOK_SHOWS_SECONDS = 0.1
LOOKS, LOOK_SECONDS = 5, 0.002
QUIET_SECONDS = 1.0  # of guest time in which nobody did anything that can be seen, before the near timer is taken away for a look
LOUDER = 2  # who turns out to be awake is looked at after so many times as long
WAKING_SHARE = 0.05  # of a processor, which looking at a machine that sleeps stays far below
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid: int) -> float:
    """What the process has used so far; proc(5), /proc/pid/stat, utime and stime. Its name may hold spaces, so what is after it counts."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def waits(pid: int) -> bool:
    """Whether each thread of the process waits for something other than a processor. Asking for the clock wakes one for a moment, so this looks several
    times."""
    for _ in range(LOOKS):
        if _waits_now(pid):
            return True
        time.sleep(LOOK_SECONDS)
    return False


def _waits_now(pid: int) -> bool:
    """State S of proc(5), /proc/pid/stat."""
    try:
        return all((task / "stat").read_text().rpartition(")")[2].split()[0] == "S" for task in Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return False  # a thread has just ended


class Standstill:
    """Looks at a session's machine after every poll."""

    def __init__(self, session: Session, patience: float = PATIENCE_SECONDS) -> None:
        self._session, self._patience = session, patience
        self._last = 0.0  # guest seconds
        self._used = 0.0  # processor seconds when the clock came to `_last`
        self._asleep, self._looked = 0.0, time.monotonic()  # for how long it has been seen so, and when it was looked at last
        self._is_told = False
        self._doings: object = None
        self._quiet_since, self._quiet = 0.0, QUIET_SECONDS
        self._looked_at: float | None = None  # guest seconds when the near timer had been taken away; None: it has not

    def notice(self) -> str:
        """What to tell the user of a machine that computes, once for each time that it comes to that; else empty."""
        if not self._stands() or self._is_told:
            return ""
        used = processor_seconds(self._session.machine.pid) - self._used
        if used < self._patience:
            return ""
        self._is_told = True
        return (
            f"the machine has used {used:.0f} s of processor time, and its clock has not moved: a guest that takes exceptions without"
            " end stops a clock that counts instructions; try --time host"
        )

    def sleeps(self) -> bool:
        """Whether nothing will happen any more unless somebody types."""
        self._look()
        now, pid = time.monotonic(), self._session.machine.pid
        passed, self._looked = now - self._looked, now
        if not self._stands() or not waits(pid):
            self._asleep = 0.0
            return False
        self._asleep += min(passed, LOOK_SHOWS_SECONDS)
        return self._asleep >= SLEEP_SECONDS and processor_seconds(pid) - self._used < WAKING_SHARE * self._asleep

    def _look(self) -> None:
        """Takes the near timer away where nobody does anything, and gives it back as soon as somebody does."""
        machine = self._session.machine
        timer = machine.near_timer
        if timer is None or machine.exit_status() is not None:
            return
        now = self._session.guest_seconds()
        if (doings := self._seen()) != self._doings:
            self._doings, self._quiet_since, self._quiet = doings, now, QUIET_SECONDS
        if self._looked_at is not None:
            if now != self._looked_at:
                timer.give_back()
                self._looked_at, self._quiet_since, self._quiet = None, now, self._quiet * LOUDER
        elif now - self._quiet_since >= self._quiet and timer.take_away():
            self._looked_at = machine.guest_seconds()

    def _seen(self) -> object:
        """What tells of a sandbox that it does something."""
        return [(watch.state, watch.stats, watch.heartbeat, watch.signs.count) for watch in self._session.watches.values()]

    def _stands(self) -> bool:
        """Whether the clock, once it has begun to move, shows what it showed before. A machine that has ended stands for ever."""
        machine = self._session.machine
        if not machine.is_counted or machine.exit_status() is not None:
            return False
        seconds = self._session.guest_seconds()
        if seconds == self._last:
            return seconds > 0
        self._last, self._used, self._is_told = seconds, processor_seconds(machine.pid), False
        return False
