# SPDX-License-Identifier: Apache-2.0
"""One sandbox's console, from a UART or from its log ring: bytes in, clean lines out."""

import re
import socket
import unicodedata
from typing import Protocol

from bhtool.machine.memory import Memory
from bhtool.text import counted

LONGEST_LINE = 4096
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()].|.)")
INVISIBLE = {"Cf", "Co", "Cs", "Zl", "Zp"}  # bidirectional overrides, zero widths, line separators, private use
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Source(Protocol):
    """Where console bytes come from."""

    def read(self) -> bytes:
        """What is new; empty if nothing."""

    def write(self, data: bytes) -> bool:
        """Input for the sandbox; False if this console takes none."""


class Uart:
    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def read(self) -> bytes:
        try:
            return self._line.recv(65536)
        except (BlockingIOError, ConnectionError):
            return b""

    def write(self, data: bytes) -> bool:
        try:
            self._line.sendall(data)
        except (BlockingIOError, ConnectionError):
            return False
        return True


class Ring:
    def __init__(self, memory: Memory, pool: int) -> None:
        self._memory, self._pool, self._tail = memory, pool, 0

    def read(self) -> bytes:
        text, self._tail, lost = self._memory.log_since(self._pool, self._tail)
        return (f"\n[{counted(lost, 'byte')} lost]\n".encode() if lost else b"") + text

    def write(self, data: bytes) -> bool:
        return False


def printable(text: str) -> str:
    """Without terminal controls and invisible formatting: a sandbox must not steer or disguise what the user's terminal shows."""
    plain = CONTROLS.sub("", ESCAPES.sub("", text))
    return plain if plain.isascii() else "".join(one for one in plain if unicodedata.category(one) not in INVISIBLE)


def shown(line: bytes) -> str:
    """What a terminal shows of a line in the end: what follows a carriage return is written over what stood there, as progress bars do."""
    parts = [text for part in line.decode("utf-8", "replace").split("\r") if (text := printable(part)).strip()]
    return parts[-1] if parts else ""


class Lines:
    """Cuts a byte stream into lines; a line that never ends is cut at LONGEST_LINE."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        *whole, self._rest = (self._rest + data).split(b"\n")
        while len(self._rest) > LONGEST_LINE:
            whole.append(self._rest[:LONGEST_LINE])
            self._rest = self._rest[LONGEST_LINE:]
        return [shown(line) for line in whole]

    @property
    def unfinished(self) -> str:
        """What waits for its end."""
        return shown(self._rest)

    def flush(self) -> list[str]:
        """What waits for its end, as a line."""
        rest, self._rest = self._rest, b""
        return [text] if (text := shown(rest)) else []
