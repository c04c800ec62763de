# SPDX-License-Identifier: Apache-2.0
"""QEMU's debugger port as an instrument: stops a machine at an instruction, and changes bits of its memory and registers.

Memory is written by physical address through the port rather than in the RAM file: QEMU drops what it has translated from there
(QEMU's documentation, "GDB usage", "Changing the debugging mode: physical memory").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from bhtool.errors import BulkheadError
from bhtool.oracle.debugger import Debugger

THREAD = re.compile(rb"thread:(?:p[0-9a-f]+\.)?([0-9a-f]+);")
LOOK_SECONDS = 0.5
ANSWER_SECONDS = 60.0  # of a machine that stands still: only a host without a moment's time is later


class Ended(Exception):
    """The machine has switched itself off, or the emulator gave up."""


class Stub(Debugger):
    def __init__(self, path: Path, breakpoint_bytes: int, registers: tuple[tuple[str, int], ...]) -> None:
        """`registers`: names and bytes of those that the port counts first, in its order, unless its descriptions give a number."""
        super().__init__(path)
        self._kind = breakpoint_bytes
        self._order = {name: (self.numbers.get(name, n), size) for n, (name, size) in enumerate(registers)}
        self._must("Qqemu.PhyMemMode:1")
        self._must(
            "Qqemu.sstep=0x3"
        )  # steps without interrupts, but with timers: where instructions are counted, one that is due lets none go on

    def _must(self, command: str) -> None:
        if (said := self._said(command)) != b"OK":
            raise BulkheadError(f"QEMU's debugger port answers {said!r} to {command}")

    def _said(self, command: str) -> bytes:
        try:
            return self.ask(command, ANSWER_SECONDS)
        except (BulkheadError, OSError) as error:
            raise Ended(str(error)) from error

    def read_memory(self, address: int, size: int) -> bytes:
        return bytes.fromhex(self._said(f"m{address:x},{size:x}").decode())

    def write_memory(self, address: int, content: bytes) -> None:
        self._must(f"M{address:x},{len(content):x}:{content.hex()}")

    def read_register(self, core: int, name: str) -> int:
        self._must(f"Hg{core + 1:x}")
        number, size = self._order[name]
        return int.from_bytes(bytes.fromhex(self._said(f"p{number:x}").decode())[:size], "little")

    def write_register(self, core: int, name: str, value: int) -> None:
        self._must(f"Hg{core + 1:x}")
        number, size = self._order[name]
        self._must(f"P{number:x}={value.to_bytes(size, 'little').hex()}")

    def stop_at(self, address: int) -> None:
        """Every core stops before the instruction there."""
        self._must(f"Z1,{address:x},{self._kind:x}")

    def pass_by(self, address: int) -> None:
        self._must(f"z1,{address:x},{self._kind:x}")

    def step(self, core: int) -> None:
        """One instruction of that core; the others go on meanwhile: where instructions are counted, a machine may not get on otherwise."""
        self._stopped(self._said(f"vCont;s:{core + 1:x};c"))

    def run(self, hopeless: Callable[[], bool]) -> int | None:
        """Until a core stops, which is told; None: it was stopped from here, as it has become hopeless. Raises Ended."""
        try:
            return self._run(hopeless)
        except (BulkheadError, OSError) as error:
            raise Ended(str(error)) from error

    def _run(self, hopeless: Callable[[], bool]) -> int | None:
        command = "vCont;c"
        while True:
            try:
                return self._stopped(self.ask(command, LOOK_SECONDS) if command else self.receive(LOOK_SECONDS))
            except TimeoutError:
                command = ""
            if hopeless():
                self.interrupt()
                self._stopped(self.receive(ANSWER_SECONDS))
                return None

    @staticmethod
    def _stopped(said: bytes) -> int:
        if said[:1] in (b"W", b"X"):
            raise Ended("the machine has switched itself off")
        found = THREAD.search(said)
        return int(found[1], 16) - 1 if found else 0
