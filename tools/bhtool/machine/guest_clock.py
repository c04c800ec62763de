# SPDX-License-Identifier: Apache-2.0
"""A machine's own time since it was switched on, as an emulator tells it: no guest is asked, and none notices (docs/testing.md, "What a machine's
time means").
"""

import os
import select
import socket
import struct
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Protocol

PATIENCE_SECONDS = 0.25
PIPE_BYTES = 1 << 16
QUESTION = bytes(16)
PCAP_HEADER_BYTES = 24
RECORD = struct.Struct(
    "<4I"
)  # pcap, https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-06.html, 5 "Packet Record": seconds, us, bytes kept, bytes


class GuestClock(Protocol):
    def seconds(self) -> float:
        """As last known; never goes back. What a machine that has ended said last."""

    def now(self) -> float | None:
        """As it is at this moment. None: not known at this moment, of a machine that runs or has ended."""

    def ask(self) -> bool:
        """Whether a question is on its way, which nobody waits for."""

    def told(self) -> float:
        """The last answer."""


class _ClockAtHand(ABC):
    """One that can be read at any moment: nobody is asked."""

    @abstractmethod
    def seconds(self) -> float:
        """Never goes back."""

    def now(self) -> float:
        return self.seconds()

    def ask(self) -> bool:
        return True

    def told(self) -> float:
        return self.seconds()


class HostClock(_ClockAtHand):
    """Where the machine follows the host's time."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self._start


class PageClock(_ClockAtHand):
    """Bochs writes its time down, in microseconds, wherever it looks at its timers (tools/bochs/guest_clock.cc)."""

    def __init__(self, file: int) -> None:
        self._file = file

    def seconds(self) -> float:
        return int.from_bytes(os.pread(self._file, 8, 0), "little") / 1e6


class PacketClock:
    """QEMU's virtual clock. A packet sent into a network that no guest is on gets a time stamp of it, in a file of packets that is a pipe."""

    def __init__(self, network: socket.socket, packets: int, start: int) -> None:
        """`start`: what the stamps' seconds begin with. Neither descriptor blocks."""
        self._network, self._packets, self._start = network, packets, start
        self._skip = PCAP_HEADER_BYTES
        self._rest = b""
        self._seconds = 0.0
        self._awaited = 0  # questions without an answer yet

    def seconds(self) -> float:
        self._take()  # answers that came too late for their questions
        if self.ask():
            select.select([self._packets], [], [], PATIENCE_SECONDS)
        return self.told()

    def now(self) -> float | None:
        """None: the emulator has not answered in time, as on a busy host."""
        seconds = self.seconds()
        return None if self._awaited > 0 else seconds

    def ask(self) -> bool:
        """False: the machine has ended, or has yet to look at earlier questions. `told` has the answer."""
        with suppress(OSError):
            self._network.send(QUESTION)
            self._awaited += 1
            return True
        return False

    def told(self) -> float:
        """The last answer. A machine that is stopped answers no more than one question, until it goes on."""
        self._take()
        return self._seconds

    def _take(self) -> None:
        with suppress(BlockingIOError):
            self._rest += os.read(self._packets, PIPE_BYTES)
        if self._skip and len(self._rest) >= self._skip:
            self._rest, self._skip = self._rest[self._skip :], 0
        while not self._skip and len(self._rest) >= RECORD.size + len(QUESTION):
            seconds, microseconds, *_ = RECORD.unpack_from(self._rest)
            self._rest = self._rest[RECORD.size + len(QUESTION) :]
            self._seconds = seconds - self._start + microseconds / 1e6
            self._awaited -= 1
