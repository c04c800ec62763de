# SPDX-License-Identifier: Apache-2.0
"""How many instructions each processor of a machine executes, in host time as well: instructions.c, in QEMU alone.

For what an instruction count of the emulator's own clock (`stage.COUNTED`) makes too slow, or has idle time in. What a program does in host time depends
on when its interrupts come, so a figure has a spread.
"""

import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bhtool.abi import COMPILER
from bhtool.errors import BulkheadError

SOURCE = Path(__file__).with_suffix(".c")
ANSWER_SECONDS = 10.0


def built(folder: Path) -> Path:
    plugin = folder / "instructions.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O2", "-o", str(plugin), str(SOURCE)], check=True)
    return plugin


class Counter:
    """The plugin, built in `folder`, and what it has left there."""

    def __init__(self, folder: Path) -> None:
        self._plugin, self._found = built(folder), folder / "instructions"

    @property
    def options(self) -> Sequence[str]:
        return "-plugin", f"file={self._plugin},out={self._found}"

    def counts(self) -> list[int]:
        """Of each processor, once the machine has ended."""
        return [int(line) for line in self._found.read_text().split()]


class Meter:
    """The plugin, which is asked while its machine runs. Make one for each machine, before it starts."""

    def __init__(self, folder: Path) -> None:
        self._plugin, self._path = built(folder), folder / "meter"
        self._path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen(1)
        self._listener.settimeout(ANSWER_SECONDS)
        self._line: socket.socket | None = None

    @property
    def options(self) -> Sequence[str]:
        return "-plugin", f"file={self._plugin},ask={self._path}"

    def counts(self) -> list[int]:
        """Of each processor so far."""
        if self._line is None:
            self._line, _ = self._listener.accept()
            self._line.settimeout(ANSWER_SECONDS)
        self._line.sendall(b"?")
        said = b""
        while not said.endswith(b"\n"):
            more = self._line.recv(4096)
            if not more:
                raise BulkheadError("the emulator ended while its instructions were counted")
            said += more
        return [int(word) for word in said.split()]
