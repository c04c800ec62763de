# SPDX-License-Identifier: Apache-2.0
"""Registers of a machine's devices, read and written from outside while it goes on: QEMU's line for tests of its devices (its manual for developers,
"QTest Device Emulation Testing Framework"). No guest notices. For what a device's model keeps in registers and nowhere else.
"""

import socket
from contextlib import suppress

ANSWER_SECONDS = 5.0  # of the host's, after which it is taken for one that does not answer


def options(descriptor: int) -> list[str]:
    return ["-chardev", f"socket,id=registers,fd={descriptor}", "-qtest", "chardev:registers", "-qtest-log", "none"]


class Registers:
    """Answers come in the sequence of what was asked: one that comes too late is that of no later question."""

    def __init__(self, line: socket.socket) -> None:
        """`line`: our end of QEMU's."""
        self._line, self._said, self._awaited = line, b"", 0
        line.settimeout(ANSWER_SECONDS)

    def read32(self, address: int) -> int | None:
        """None: the machine has ended, or does not answer."""
        return self._value(f"readl {address:#x}")

    def read64(self, address: int) -> int | None:
        """As read32."""
        return self._value(f"readq {address:#x}")

    def write32(self, address: int, value: int) -> None:
        self._ask(f"writel {address:#x} {value:#x}")

    def _value(self, command: str) -> int | None:
        """Of an answer "OK 0x12"."""
        word, _, value = self._ask(command).partition(" ")
        return int(value, 16) if word == "OK" else None

    def _ask(self, command: str) -> str:
        with suppress(OSError):  # it does not answer in time, or has ended
            self._line.sendall(command.encode() + b"\n")
            self._awaited += 1
            answer = b""
            while self._awaited:
                answer = self._next()
                self._awaited -= 1
            return answer.decode()
        return ""

    def _next(self) -> bytes:
        """Raises OSError when no line comes."""
        while b"\n" not in self._said:
            more = self._line.recv(1 << 12)
            if not more:
                raise ConnectionError
            self._said += more
        line, _, self._said = self._said.partition(b"\n")
        return line
