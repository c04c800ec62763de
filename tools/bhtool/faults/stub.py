# SPDX-License-Identifier: Apache-2.0
"""QEMU's debugger port as an instrument: stops a machine at an instruction, and changes bits of its memory and registers.

Memory is written by physical address through the port rather than in the RAM file: QEMU drops what it has translated from there
(QEMU's documentation, "GDB usage", "Changing the debugging mode: physical memory").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from pathlib import Path

from bhtool.errors import BulkheadError
from bhtool.faults.patience import Why
from bhtool.oracle.debugger import Debugger

THREAD = re.compile(rb"thread:(?:p[0-9a-f]+\.)?([0-9a-f]+);")
LOOK_SECONDS, NEXT_LOOK_SECONDS = 0.5, 0.05  # most machines have stopped before the first
TRAPPED = b"T05"  # signal SIGTRAP: a core had come to a stop before it could be interrupted
ANSWER_SECONDS = 60.0  # of a machine that stands still: only a host without a moment's time is later


class Ended(Exception):
    """The machine has switched itself off, or the emulator gave up."""


class Stub(Debugger):
    def __init__(self, path: Path, cores: int, breakpoint_bytes: int, registers: tuple[tuple[str, int], ...]) -> None:
        """`registers`: names and bytes of those that the port counts first, in its order, unless its descriptions give a number."""
        super().__init__(path)
        self._cores = cores  # of the machine
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

    def run(self, over: Callable[[], Why | None], held: Container[int] = (), is_soon: bool = False) -> int | Why:
        """Until a core stops, which is told, or there is a reason to stop it from here, which is told. Cores that are held stand. `is_soon`: a reason is likely. Raises Ended."""
        try:
            return self._run(over, held, NEXT_LOOK_SECONDS if is_soon else LOOK_SECONDS)
        except (BulkheadError, OSError) as error:
            raise Ended(str(error)) from error

    def _run(self, over: Callable[[], Why | None], held: Container[int], seconds: float) -> int | Why:
        command = "vCont;c"
        if held:
            command = "vCont" + "".join(f";c:{core + 1:x}" for core in range(self._cores) if core not in held)
        while True:
            try:
                return self._stopped(self.ask(command, seconds) if command else self.receive(seconds))
            except TimeoutError:
                command, seconds = "", NEXT_LOOK_SECONDS
            if why := over():
                self.interrupt()
                said = self.receive(ANSWER_SECONDS)
                core = self._stopped(said)
                return core if said.startswith(TRAPPED) else why

    @staticmethod
    def _stopped(said: bytes) -> int:
        if said[:1] in (b"W", b"X"):
            raise Ended("the machine has switched itself off")
        found = THREAD.search(said)
        return int(found[1], 16) - 1 if found else 0
