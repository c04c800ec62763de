# SPDX-License-Identifier: Apache-2.0
"""A machine that computes while nothing in it moves.

Where instructions are counted, one guest that takes exceptions without end, each as the first instruction of its handler, executes none: so the
clock stands still, for everybody (docs/testing.md, "What a machine's time means").
"""

import os
from pathlib import Path

from bhtool.session import Session

PATIENCE_SECONDS = 15.0  # of the emulator's processor time; a thousand beats or more anywhere
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid: int) -> float:
    """What the process has used so far; proc(5), /proc/pid/stat, utime and stime. Its name may hold spaces, so what is behind it counts."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


class Standstill:
    """Looks at a session's watches, as the last poll has left them."""

    def __init__(self, session: Session, patience: float = PATIENCE_SECONDS) -> None:
        self._session, self._patience = session, patience
        self._last: object = None
        self._since = 0.0
        self._is_told = False

    def _signs(self) -> object:
        """All that changes while guests run: beats, exits, restarts. None: nobody has promised a beat."""
        watches = self._session.watches.values()
        if not any(watch.heartbeat and watch.state in ("running", "ready") for watch in watches):
            return None
        return [(watch.stats, watch.heartbeat, watch.restarts) for watch in watches]

    def notice(self) -> str:
        """What to tell the user, once for each time that it comes to that; else empty. A machine that has ended stands for ever."""
        machine = self._session.machine
        if not machine.is_counted or machine.exit_status() is not None:
            return ""
        signs, used = self._signs(), processor_seconds(machine.pid)
        if signs is None or signs != self._last:
            self._last, self._since, self._is_told = signs, used, False
        if self._is_told or used - self._since < self._patience:
            return ""
        self._is_told = True
        return (
            f"the machine has used {used - self._since:.0f} s of processor time, and no sandbox has moved: a guest that takes exceptions without"
            " end stops a clock that counts instructions; try --time host"
        )
