# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma. Registers of devices are asked for by QEMU's line for tests, and no answer is taken for another's."""

import socket

import pytest
from bhtool.machine import registers
from bhtool.machine.registers import Registers


@pytest.fixture
def line() -> tuple[Registers, socket.socket]:
    near, far = socket.socketpair()
    return Registers(near), far


def test_a_register_is_read_and_written(line: tuple[Registers, socket.socket]) -> None:
    ours, far = line
    far.sendall(b"OK 0x0000000000000012\nOK 0x00d2008c222f0606\nOK\n")
    assert ours.read32(0xFED90034) == 0x12
    assert ours.read64(0xFED90008) == 0x00D2008C222F0606
    ours.write32(0xFED9022C, 0x80000000)
    assert far.recv(1 << 12) == b"readl 0xfed90034\nreadq 0xfed90008\nwritel 0xfed9022c 0x80000000\n"


def test_an_answer_that_is_late_is_no_other_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registers, "ANSWER_SECONDS", 0.01)
    near, far = socket.socketpair()
    ours = Registers(near)
    assert ours.read32(0xFED90034) is None
    far.sendall(b"OK 0x1\nOK 0x2\n")
    assert ours.read32(0xFED90034) == 2


def test_a_machine_that_has_ended_says_nothing(line: tuple[Registers, socket.socket]) -> None:
    ours, far = line
    far.close()
    assert ours.read32(0xFED90034) is None
    ours.write32(0xFED9022C, 0)
