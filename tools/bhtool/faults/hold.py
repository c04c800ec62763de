# SPDX-License-Identifier: Apache-2.0
"""Moves one Bochs machine to the moment of a fault and on to its end by holding the emulator's process, and changes the bit in the RAM file.

Bochs has no port to be stopped by. That the moment has come is seen in a console's ring, some thousands of instructions later and never at the
same one; and instructions that Bochs has decoded already stay as they were.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from bhtool.attack.stage import SENTINELS
from bhtool.errors import BulkheadError
from bhtool.faults.fault import WORD, Fault, Moment
from bhtool.faults.patience import CPU_SECONDS, LAST_SECONDS, READY_SECONDS, Patience
from bhtool.faults.stage import KICKER, Stage
from bhtool.machine.emulated import Machine
from bhtool.machine.memory import Memory

MOMENT, END = b": life ", b": restarted in "  # what commands of stage.py say
LOOK_SECONDS = 0.0005
LOOKS = 20  # between two at the machine's clock


class HeldRun:
    """A run.Run."""

    def __init__(self, stage: Stage, machine: Machine) -> None:
        self._stage, self._machine = stage, machine
        self._memory = Memory(stage.platform, machine.ram)
        self.ended, self.stood, self.in_monitor, self.holds, self.seconds = "", False, False, 0, 0.0
        self.ram = machine.ram

    def _said(self, names: Iterable[str], text: bytes) -> bool:
        """Whether any of these has."""
        return any(text in self._memory.log_since(one.pool_hpa, 0)[0] for one in self._stage.plan.sandboxes if one.name in names)

    def _run_until(self, reached: Callable[[], bool], seconds: float) -> bool:
        """Lets it run until that, or for so long; then it is held."""
        self.release()
        patience, looks, why = Patience(self._machine, seconds, CPU_SECONDS), 0, None
        while not (done := reached()) and why is None:
            if (status := self._machine.exit_status()) is not None:
                self.ended = f"the machine ended, status {status} {self._machine.complaint()}".rstrip()
                return False
            time.sleep(LOOK_SECONDS)
            looks += 1
            why = None if looks % LOOKS else patience.over()
        self._machine.hold()
        return done

    def release(self) -> None:
        self._machine.release()

    def to_moment(self, moment: Moment) -> None:
        if not self._run_until(lambda: self._said((KICKER,), MOMENT), READY_SECONDS):
            raise BulkheadError(self.ended or "the machine did not come to the moment of a fault")

    def inject(self, fault: Fault) -> int:
        """What stands there afterwards."""
        at = fault.address - self._stage.platform.ram_base
        word = int.from_bytes(os.pread(self.ram, WORD, at), "little") ^ 1 << fault.bit
        os.pwrite(self.ram, word.to_bytes(WORD, "little"), at)
        return word

    def to_end(self) -> None:
        self.stood = not self._run_until(lambda: self._said(SENTINELS, END), LAST_SECONDS) and not self.ended
        self.seconds = self._machine.guest_seconds()

    def settle(self) -> None:
        """Nothing: kicks change no tables of a PC."""

    def read(self, core: int, names: Iterable[str]) -> Mapping[str, int]:
        """Nothing: the oracle needs no registers of a PC."""
        return {}

    def peek(self, address: int, size: int) -> int:
        raise BulkheadError("a machine that is held without a debugger shows no registers of devices")


@contextmanager
def held(stage: Stage, image: bytes) -> Iterator[HeldRun]:
    """A machine of the stage that has just been started."""
    with Machine(stage.platform, image) as machine:
        run = HeldRun(stage, machine)
        try:
            yield run
        finally:
            run.release()  # who is held does not hear that he is to end
