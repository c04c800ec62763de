# SPDX-License-Identifier: Apache-2.0
"""What emulators say of their machines' time is read as it was meant, late answers and the end of a machine included."""

import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from bhtool.machine import guest_clock
from bhtool.machine.guest_clock import PCAP_HEADER_BYTES, QUESTION, HostClock, PacketClock, PageClock

START = 1_000_000


@dataclass
class Emulator:
    """The far ends of a clock's socket and pipe."""

    network: socket.socket
    pipe: int
    clock: PacketClock

    def stamp(self, microseconds: int) -> None:
        seconds, rest = divmod(microseconds, 1_000_000)
        os.write(self.pipe, struct.pack("<4I", START + seconds, rest, len(QUESTION), len(QUESTION)) + QUESTION)


@pytest.fixture
def emulator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    monkeypatch.setattr(guest_clock, "PATIENCE_SECONDS", 0.01)
    near, far = socket.socketpair(type=socket.SOCK_DGRAM)
    near.setblocking(False)
    packets, pipe = os.pipe2(os.O_NONBLOCK)
    with near, far, os.fdopen(packets), os.fdopen(pipe, "w"):
        os.write(pipe, bytes(PCAP_HEADER_BYTES))
        yield Emulator(far, pipe, PacketClock(near, packets, START))


def test_each_question_is_a_packet(emulator: Emulator) -> None:
    assert emulator.clock.seconds() == 0.0, "no answer yet"
    assert emulator.network.recv(100) == QUESTION


def test_the_last_answer_counts(emulator: Emulator) -> None:
    emulator.stamp(250_000)
    emulator.stamp(2_500_001)
    assert emulator.clock.seconds() == 2.500001
    assert emulator.clock.seconds() == 2.500001, "what was known stays"


def test_an_answer_to_an_earlier_question_does_not_say_what_time_it_is(emulator: Emulator) -> None:
    assert emulator.clock.now() is None
    emulator.stamp(250_000)
    assert emulator.clock.now() is None, "one of two"
    emulator.stamp(300_000)
    emulator.stamp(350_000)
    assert emulator.clock.seconds() == 0.35
    emulator.stamp(400_000)
    emulator.stamp(450_000)
    assert emulator.clock.now() == 0.45


def test_half_an_answer_is_none(emulator: Emulator) -> None:
    record = struct.pack("<4I", START + 7, 0, len(QUESTION), len(QUESTION)) + QUESTION
    os.write(emulator.pipe, record[:10])
    assert emulator.clock.seconds() == 0.0
    os.write(emulator.pipe, record[10:])
    assert emulator.clock.seconds() == 7.0


def test_a_machine_that_has_ended_keeps_its_time(emulator: Emulator) -> None:
    emulator.stamp(3_000_000)
    emulator.network.close()
    assert emulator.clock.seconds() == 3.0


def test_a_page_holds_microseconds() -> None:
    file = os.memfd_create("clock")
    os.write(file, (1_500_000).to_bytes(8, "little"))
    clock = PageClock(file)
    assert (clock.seconds(), clock.now(), clock.ask(), clock.told()) == (1.5, 1.5, True, 1.5)
    os.close(file)


def test_the_hosts_time_is_at_hand() -> None:
    clock = HostClock()
    assert clock.ask()
    assert 0 <= clock.seconds() <= clock.now() <= clock.told()
