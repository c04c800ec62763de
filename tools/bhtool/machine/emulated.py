# SPDX-License-Identifier: Apache-2.0
"""One emulated machine: started, watched through its RAM and serial lines, always stopped.

RAM is shared memory so that the tool can read statistics, logs and crash records; nothing in the machine exists for that.
The serial lines are sockets, connected before the first instruction, so that no character is lost. How an emulator is told
all this is its own module's business: qemu, bochs.
"""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError, Status
from bhtool.machine import bochs, qemu
from bhtool.machine.guest_clock import GuestClock
from bhtool.machine.launch import HOST_TIME, NOTHING_WIRED, Emulator, Launch, Requirement, Started, Timing, memory_file
from bhtool.machine.near_timer import NearTimer
from bhtool.machine.registers import Registers
from bhtool.machine.wiring import Wiring
from bhtool.platforms import Medium, Platform
from bhtool.provision.needs import Versions

STOP_SECONDS = 5.0
EMULATORS: dict[str, Emulator] = {"qemu": qemu, "bochs": bochs}


def timing_for(platform: Platform, plan: Plan, exact: bool | None = None) -> Timing:
    """Counted instructions where that is fast; `exact`: everywhere (True) or nowhere (False), at any price.

    Linux on a PC reads its timer's count in the middle of a translated block, which ends QEMU with "Bad icount read".
    """
    hard = not platform.emulator.counts_linux and any(sandbox.os == "linux" for sandbox in plan.sandboxes)
    if exact is False or (exact is None and hard):
        return Timing()
    return Timing(platform.emulator.icount_shift, single_step=hard)


def always_counts(platform: Platform) -> bool:
    """Whether its emulated time is counted instructions, whatever is asked for."""
    return platform.emulator.kind == "bochs"


def requirement(platform: Platform) -> Requirement:
    """What the platform needs of this host, and whether it is there."""
    return EMULATORS[platform.emulator.kind].requirement(platform)


def versions(platform: Platform) -> Versions:
    """What a result that was got on the platform depends on."""
    return EMULATORS[platform.emulator.kind].versions(platform)


def require_emulator(platform: Platform) -> None:
    needed = requirement(platform)
    if needed.lacking:
        raise BulkheadError(f"{platform.name} needs {needed.text}: {needed.lacking}; {needed.remedy}", Status.MISSING)


@dataclass
class Machine:
    """Use as a context manager: entering starts it, leaving ends it."""

    platform: Platform
    image: bytes = field(repr=False)
    timing: Timing = HOST_TIME
    extra: tuple[str, ...] = ()  # in the emulator's own words
    medium: Medium | None = None  # None: what the platform's images are
    found: tuple[tuple[int, bytes], ...] = field(default=(), repr=False)  # in RAM before anything is loaded, by address
    wiring: Wiring = NOTHING_WIRED
    serials: dict[str, socket.socket] = field(default_factory=dict)

    def __enter__(self) -> Self:
        require_emulator(self.platform)
        with ExitStack() as stack:
            self.ram = memory_file(stack, "ram")
            os.ftruncate(self.ram, self.platform.ram_size)
            for address, content in self.found:
                os.pwrite(self.ram, content, address - self.platform.ram_base)
            self._errors = memory_file(stack, "errors")
            self._started = self._start(stack)
            self._files = stack.pop_all()
        return self

    def _start(self, stack: ExitStack) -> Started:
        medium = self.medium or self.platform.emulator.medium
        launch = Launch(
            self.platform, self.ram, self._errors, self.image, medium, self.timing, self.extra, stack, self.serials, self.wiring
        )
        return self._emulator.start(launch)

    @property
    def _emulator(self) -> Emulator:
        return EMULATORS[self.platform.emulator.kind]

    @property
    def _process(self) -> subprocess.Popen[bytes]:
        return self._started.process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_counted(self) -> bool:
        """Whether emulated time is counted instructions rather than the host's time."""
        return always_counts(self.platform) or self.timing.icount_shift is not None

    def guest_seconds(self) -> float:
        """Of its own time since it was switched on; asking changes nothing in it."""
        return self._started.clock.seconds()

    @property
    def clock(self) -> GuestClock:
        return self._started.clock

    @property
    def near_timer(self) -> NearTimer | None:
        return self._started.near_timer

    @property
    def registers(self) -> Registers | None:
        return self._started.registers

    def exit_status(self) -> int | None:
        """None while the machine runs."""
        return self._process.poll()

    def complaint(self) -> str:
        """What the emulator itself said, in one line; empty if nothing."""
        return self._emulator.complaint(os.pread(self._errors, 1 << 20, 0).decode("utf-8", "replace"))

    def hold(self) -> None:
        """Returns when nothing in it goes on any more; until `release` its clock cannot be asked. Does nothing where it has ended."""
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)  # all of its threads have stopped

    def release(self) -> None:
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGCONT)

    @contextmanager
    def held(self) -> Iterator[None]:
        """What stands in its RAM is of one moment. Not to be nested."""
        try:
            self.hold()
            yield
        finally:
            self.release()

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
        self._files.close()
