# SPDX-License-Identifier: Apache-2.0
"""Registers of a QEMU machine through its debugger's port, which also makes it stand still.

GDB manual, Appendix E "Remote Serial Protocol" and Appendix G "Target Descriptions": the machine itself says what registers it has.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable
from pathlib import Path

from bhtool.errors import BulkheadError, Status

SECONDS = 20.0
CHUNK = 0xFF0
PACKET = re.compile(rb"\$([^#]*)#..", re.DOTALL)
REGISTER = re.compile(r'<reg name="(\w+)"[^>]* regnum="(\d+)"')


def option(path: Path) -> tuple[str, ...]:
    """QEMU's words for a debugger's port there."""
    return ("-gdb", f"unix:{path},server=on,wait=off")


class Debugger:
    def __init__(self, path: Path) -> None:
        self._line = socket.socket(socket.AF_UNIX)
        self._line.settimeout(SECONDS)
        self._line.connect(str(path))
        self.numbers = self._read_numbers()

    def close(self) -> None:
        self._line.close()

    def ask(self, command: str, seconds: float = SECONDS) -> bytes:
        """The answer to a command. Raises TimeoutError if there is none in so many seconds, BulkheadError if the machine has ended."""
        data = command.encode()
        self._line.sendall(b"$" + data + b"#%02x" % (sum(data) & 0xFF))
        return self.receive(seconds)

    def receive(self, seconds: float = SECONDS) -> bytes:
        """The next packet; fails as `ask` does."""
        self._line.settimeout(seconds)
        answer = b""
        while not (found := PACKET.search(answer)):
            if not (more := self._line.recv(65536)):
                raise BulkheadError("the machine ended while its debugger's port was asked")
            answer += more
        self._line.sendall(b"+")
        return found[1]

    def interrupt(self) -> None:
        """Asks a machine that runs to stop; `receive` has its answer."""
        self._line.sendall(b"\x03")

    def peek(self, address: int, size: int) -> int:
        """What the machine has at a physical address, in one access. QEMU, "GDB usage", "Debugging user-space applications": Qqemu.PhyMemMode."""
        if self.ask("Qqemu.PhyMemMode:1") != b"OK":
            raise BulkheadError("the debugger's port shows no physical memory", Status.FAILED)
        found = self.ask(f"m{address:x},{size:x}")
        self.ask("Qqemu.PhyMemMode:0")
        if len(found) != 2 * size:
            raise BulkheadError(f"the machine has nothing at {address:#x} to read", Status.FAILED)
        return int.from_bytes(bytes.fromhex(found.decode()), "little")

    def _document(self, name: str) -> str:
        """A file of the target description, in pieces: "m" and more follow, "l" is the last."""
        text = b""
        while (piece := self.ask(f"qXfer:features:read:{name}:{len(text):x},{CHUNK:x}"))[:1] == b"m":
            text += piece[1:]
        return (text + piece[1:]).decode()

    def _read_numbers(self) -> dict[str, int]:
        """Without the request for descriptions QEMU shows no system registers."""
        self.ask("qSupported:xmlRegisters=arm")
        parts = re.findall(r'href="([^"]*)"', self._document("target.xml"))
        return {name: int(number) for part in parts for name, number in REGISTER.findall(self._document(part))}

    def read(self, core: int, names: Iterable[str]) -> dict[str, int]:
        """Little-endian, as wide as each is. Threads count from 1."""
        if self.ask(f"Hg{core + 1:x}") != b"OK":
            raise BulkheadError(f"the machine has no core {core}", Status.FAILED)
        found = {name: self.ask(f"p{self.numbers[name]:x}") for name in names if name in self.numbers}
        return {name: int.from_bytes(bytes.fromhex(text.decode()), "little") for name, text in found.items()}
