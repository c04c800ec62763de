# SPDX-License-Identifier: Apache-2.0
"""What an emulator's module is handed to start a machine, and what it has to offer."""

import os
import socket
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Protocol

from bhtool.machine.guest_clock import GuestClock
from bhtool.machine.near_timer import NearTimer
from bhtool.machine.registers import Registers
from bhtool.machine.wiring import Wiring
from bhtool.platforms import Medium, Platform
from bhtool.provision.needs import Versions


@dataclass(frozen=True)
class Timing:
    """How emulated time passes. With an icount shift one instruction takes 2**shift ns and runs repeat exactly."""

    icount_shift: int | None = None
    single_step: bool = False  # translate instruction by instruction: ten times slower


HOST_TIME = Timing()
NOTHING_WIRED = Wiring()


@dataclass(frozen=True)
class Launch:
    """One machine to start. Descriptors and sockets that are to outlive the start belong to `stack`."""

    platform: Platform
    ram: int
    errors: int  # takes what the emulator says
    image: bytes = field(repr=False)
    medium: Medium
    timing: Timing
    extra: tuple[str, ...]
    stack: ExitStack
    serials: dict[str, socket.socket]  # to be filled: our ends, not blocking
    wiring: Wiring = NOTHING_WIRED


@dataclass(frozen=True)
class Started:
    """A machine that runs."""

    process: subprocess.Popen[bytes]
    clock: GuestClock
    near_timer: NearTimer | None = None  # where its cores take turns
    registers: Registers | None = None  # where a device keeps something in them that is to be read from outside


@dataclass(frozen=True)
class Requirement:
    """What a platform needs of its host."""

    text: str
    lacking: str  # why it is not met, as a clause; empty if it is
    remedy: str


class Emulator(Protocol):
    """The modules qemu and bochs."""

    def requirement(self, platform: Platform) -> Requirement:
        """Cheap: looks, but does not start anything."""

    def versions(self, platform: Platform) -> Versions:
        """Of the emulator, by its name."""

    def start(self, launch: Launch) -> Started:
        """Starts the machine; its serial lines are connected by then."""

    def complaint(self, said: str) -> str:
        """Of all that the emulator said, the line that tells why it ended; empty if there is none."""


def memory_file(stack: ExitStack, name: str, content: bytes = b"") -> int:
    """A file without a name: it cannot be left behind."""
    descriptor = os.memfd_create(f"bulkhead-{name}")
    stack.callback(os.close, descriptor)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)
    return descriptor


def path_of(descriptor: int) -> str:
    """How a child that inherits the descriptor opens it anew."""
    return f"/proc/self/fd/{descriptor}"
