# SPDX-License-Identifier: Apache-2.0
"""How many instructions each processor of a machine executes in host time: instructions.c, in QEMU alone.

For what an instruction count of the emulator's own clock (`stage.COUNTED`) makes too slow. What a program does then depends on when its
interrupts come, so a figure has a spread.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from bhtool.abi import COMPILER

SOURCE = Path(__file__).with_suffix(".c")


class Counter:
    """The plugin, built in `folder`, and what it has left there."""

    def __init__(self, folder: Path) -> None:
        self._plugin, self._found = folder / "instructions.so", folder / "instructions"
        subprocess.run([COMPILER, "-shared", "-fPIC", "-O2", "-o", str(self._plugin), str(SOURCE)], check=True)

    @property
    def options(self) -> Sequence[str]:
        return "-plugin", f"file={self._plugin},out={self._found}"

    def counts(self) -> list[int]:
        """Of each processor, once the machine has ended."""
        return [int(line) for line in self._found.read_text().split()]
