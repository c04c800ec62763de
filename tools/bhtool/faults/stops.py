# SPDX-License-Identifier: Apache-2.0
"""Moves one QEMU machine to the moment of a fault, changes the bit, and moves it on to the end, by breakpoints: the same each time.

As few as can be, as each stop moves what cores do against each other: one for the moment, one for the end, and some inside of a monitor.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from bhtool.config.board import read_board
from bhtool.errors import BulkheadError
from bhtool.families.family import Registers
from bhtool.families.table import FAMILIES
from bhtool.faults.fault import Fault, Moment
from bhtool.faults.stage import CORES, VICTIM, Stage
from bhtool.faults.stub import Ended, Stub
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.standstill import processor_seconds, waits
from bhtool.oracle.debugger import option

ICOUNT_SHIFT = 3  # 125 instructions a microsecond: three who check their memory at once need more than 62
PORT = "debugger"
MOMENT, END = "run_life", "run_restarted"  # functions of the sandbox kernel that it comes to once, by its commands (stage.py)
EXITS = ("guest_left", "svm_answer_at_once")  # in the monitor, the first that there is: an instruction soon after each exit
CPU_SECONDS, ASLEEP_SECONDS = (
    12.0,
    10.0,
)  # without a stop: of the emulator's processor time; of the host's, in which it was never seen awake


class Patience:
    """Whether a machine that runs will not come to a stop by itself. A busy host gives an emulator few turns, but it waits for them."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._used, self._awake = processor_seconds(pid), time.monotonic()

    def __call__(self) -> bool:
        if not waits(self._pid):
            self._awake = time.monotonic()
        return processor_seconds(self._pid) - self._used > CPU_SECONDS or time.monotonic() - self._awake > ASLEEP_SECONDS


class StubRun:
    """A run.Run."""

    def __init__(self, stage: Stage, machine: Machine, stub: Stub, symbols: Mapping[str, int]) -> None:
        self._stage, self._machine, self._stub, self._symbols = stage, machine, stub, symbols
        self._registers = FAMILIES[stage.platform.arch].registers
        self.ended, self.stood, self.in_monitor = "", False, False
        self.ram = machine.ram

    # ---- on its way ----

    def _run_to(self, address: int) -> int | None:
        """The core that comes there; None: none does."""
        self._stub.stop_at(address)
        core = self._stub.run(Patience(self._machine.pid))
        self._stub.pass_by(address)
        return core

    def to_moment(self, moment: Moment) -> None:
        try:
            if self._run_to(self._symbols[MOMENT]) is None:
                raise BulkheadError("the machine did not come to the moment of a fault")
            if moment.step is not None:
                self._into_monitor(moment.step)
        except Ended as error:
            raise BulkheadError(f"the machine ended before its fault: {error}") from error

    def _into_monitor(self, steps: int) -> None:
        """The victim's core, at its next exit and some instructions further on. Others' exits are passed."""
        address = next(self._symbols[name] for name in EXITS if name in self._symbols)
        while (core := self._run_to(address)) != CORES[VICTIM]:
            if core is None:
                raise BulkheadError("the victim did not come to the moment of a fault: it exits no more")
            self._stub.step(core)
        for _ in range(steps):
            self._stub.step(CORES[VICTIM])

    # ---- the fault ----

    def inject(self, fault: Fault) -> int:
        """What stands there afterwards."""
        try:
            if fault.register:
                word = self._stub.read_register(CORES[VICTIM], fault.register) ^ 1 << fault.bit
                self._stub.write_register(CORES[VICTIM], fault.register, word)
            else:
                word = int.from_bytes(self._stub.read_memory(fault.address, 8), "little") ^ 1 << fault.bit
                self._stub.write_memory(fault.address, word.to_bytes(8, "little"))
        except Ended as error:
            raise BulkheadError(f"the machine ended before its fault: {error}") from error
        return word

    def to_end(self) -> None:
        try:
            self.stood = self._run_to(self._symbols[END]) is None
            self.in_monitor = self._is_in_monitor()
        except Ended as error:
            self.ended = f"the machine ended: {error}"

    def _is_in_monitor(self) -> bool:
        """By the mode where the family's status register tells it, else by where the code is."""
        if self._registers.in_guest:
            return not self._registers.in_guest(self._stub.read_register(CORES[VICTIM], "cpsr"))
        image = read_board(self._stage.platform).image_address
        return image <= self._stub.read_register(CORES[VICTIM], self._registers.pc) < image + (1 << 18)

    def read(self, core: int, names: Iterable[str]) -> Mapping[str, int]:
        return self._stub.read(core, names)


@contextmanager
def stopped(stage: Stage, folder: Path, symbols: Mapping[str, int], image: bytes) -> Iterator[StubRun]:
    """A machine of the stage that has yet to execute its first instruction."""
    family = FAMILIES[stage.platform.arch]
    extra = ("-S", *option(folder / PORT))
    with (
        Machine(stage.platform, image, Timing(ICOUNT_SHIFT), extra=extra) as machine,
        closing(connected(folder / PORT, machine, family.registers)) as stub,
    ):
        yield StubRun(stage, machine, stub, symbols)


def connected(port: Path, machine: Machine, registers: Registers) -> Stub:
    """QEMU makes the port before it listens there."""
    while machine.exit_status() is None:
        with suppress(FileNotFoundError, ConnectionRefusedError):
            return Stub(port, registers.breakpoint_bytes, registers.packet)
        time.sleep(0.005)
    raise BulkheadError(f"the machine did not start: {machine.complaint()}")
