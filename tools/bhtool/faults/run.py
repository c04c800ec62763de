# SPDX-License-Identifier: Apache-2.0
"""What moves a machine to the moment of a fault, changes the bit, and moves it on to the end. QEMU has breakpoints (stops), Bochs is held (hold)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from bhtool.faults import hold, stops
from bhtool.faults.fault import Fault, Moment
from bhtool.faults.stage import Stage


class Run(Protocol):
    """One machine. It stands still after each of these but `read`."""

    ended: str  # how it ended by itself; empty: it has not
    stood: bool  # nobody who keeps watch came to the end
    seconds: float  # of the machine's time, at the end
    holds: int  # of the victim's core, as it let the machine's clock stand
    in_monitor: bool  # where the victim's core was at the end, if that is known
    ram: int  # file descriptor

    def to_moment(self, moment: Moment) -> None:
        """Raises BulkheadError if the machine does not come to it."""

    def inject(self, fault: Fault) -> int:
        """Returns the word, or the register, as it is from now on."""

    def to_end(self) -> None:
        """Until a watcher has checked all of its memory often enough, or it is clear that none will."""

    def settle(self) -> None:
        """Some steps of all cores of a machine that nothing was done to, while the victim answers a kick: on ARM that takes its root's valid bits until then."""

    def read(self, core: int, names: Iterable[str]) -> Mapping[str, int]:
        """Registers that the oracle judges by; of a machine that stands still."""

    def peek(self, address: int, size: int) -> int:
        """So many bytes that a device has there; of a machine that stands still."""


def run_on(stage: Stage, folder: Path, symbols: Mapping[str, int], image: bytes) -> AbstractContextManager[Run]:
    """A machine of the stage with this image. Sockets lie in the folder. `symbols`: of monitor and sandbox kernel."""
    if stage.platform.emulator.kind == "qemu":
        return stops.stopped(stage, folder, symbols, image)
    return hold.held(stage, image)
