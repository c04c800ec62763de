# SPDX-License-Identifier: Apache-2.0
"""When a machine that runs is stopped from outside: its clock stands, or it has lived for so long. The host's load decides nothing.

A guest that takes exceptions without end, each as the first instruction of its handler, lets the clock of a machine that counts instructions stand
(docs/testing.md, "What a machine's time means"). So that the others can be judged, its core is held in the debugger meanwhile (stops.py).
"""

from __future__ import annotations

import time
from enum import Enum, auto

from bhtool.machine.emulated import Machine
from bhtool.machine.standstill import processor_seconds, waits

READY_SECONDS, LAST_SECONDS = 20.0, 4.0  # of the machine's time: until the moment, and from there
CPU_SECONDS = 12.0  # as STANDS_SECONDS, of a machine whose clock moves whatever its guests do
STANDS_SECONDS = 0.05  # of the emulator's processor time, in which its clock has not moved; a core's turn takes 2 ms of it at most
DEAF_SECONDS = 60.0  # of its processor time, in which it has not said what time it is
ASLEEP_SECONDS = 10.0  # of the host's, in which it was never seen awake: it has a timer that is always near (near_timer.py)


class Why(Enum):
    STANDS = auto()  # the clock
    LATE = auto()  # it has lived for so long
    DEAD = auto()  # the emulator: it sleeps for good, or says nothing


class Patience:
    def __init__(self, machine: Machine, seconds: float, stands_seconds: float = STANDS_SECONDS) -> None:
        """`seconds`: of the machine's time from now on. `stands_seconds`: of the emulator's processor time."""
        self._machine, self._seconds, self._stands_seconds = machine, seconds, stands_seconds
        self._since: float | None = None  # what the clock said first
        self._heard = processor_seconds(machine.pid)
        self.go_on()

    def go_on(self) -> None:
        """Of a machine that has just been told to run: its clock has yet to move."""
        self._seen: float | None = None
        self._used = 0.0
        self._awake = time.monotonic()

    def over(self) -> Why | None:
        """None: it may go on."""
        used, now = processor_seconds(self._machine.pid), self._machine.clock.now()
        if not waits(self._machine.pid):
            self._awake = time.monotonic()
        if now is None:
            return Why.DEAD if used - self._heard >= DEAF_SECONDS or time.monotonic() - self._awake >= ASLEEP_SECONDS else None
        self._heard = used
        if self._since is None:
            self._since = now
        if now - self._since >= self._seconds:
            return Why.LATE
        if now != self._seen:
            self._seen, self._used, self._awake = now, used, time.monotonic()
        if used - self._used >= self._stands_seconds:
            return Why.STANDS
        return Why.DEAD if time.monotonic() - self._awake >= ASLEEP_SECONDS else None
