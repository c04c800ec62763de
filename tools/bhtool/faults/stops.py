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
from bhtool.faults.patience import CPU_SECONDS, LAST_SECONDS, READY_SECONDS, Patience, Why
from bhtool.faults.stage import CORES, VICTIM, Stage
from bhtool.faults.stub import Ended, Stub
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.memory import Memory
from bhtool.oracle.debugger import option

ICOUNT_SHIFT = 3  # 125 instructions a microsecond: three who check their memory at once need more than 62
PORT = "debugger"
SETTLING_STEPS = 250  # of each core while a victim answers a kick: some hundreds are enough
MOMENT, END = "run_life", "run_restarted"  # functions of the sandbox kernel that it comes to once, by its commands (stage.py)
EXITS = ("guest_left", "svm_answer_at_once")  # in the monitor, the first that there is: an instruction soon after each exit
WAITS = "monitor_take_kicks"  # in the monitor: who kicks comes there while it waits for the answer, and others at exits
TURNS = 2  # of the victim's in which the clock stood, before it is held
MOST_UNMOVED = 16  # times that a victim's core was let go on to answer a kick and did not


class StubRun:
    """A run.Run."""

    def __init__(self, stage: Stage, machine: Machine, stub: Stub, symbols: Mapping[str, int]) -> None:
        self._stage, self._machine, self._stub, self._symbols = stage, machine, stub, symbols
        self._registers = FAMILIES[stage.platform.arch].registers
        self.ended, self.stood, self.in_monitor, self.holds = "", False, False, 0
        self.seconds, self._is_at_end = 0.0, False
        self.ram = machine.ram

    # ---- on its way ----

    def _run_to(self, address: int) -> int | None:
        """The core that comes there; None: none does."""
        self._stub.stop_at(address)
        core = self._stub.run(Patience(self._machine, READY_SECONDS, CPU_SECONDS).over)
        self._stub.pass_by(address)
        return core if isinstance(core, int) else None

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
            self._stub.stop_at(self._symbols[END])
            why = self._run_to_end()
            self._stub.pass_by(self._symbols[END])
            self.stood, self.in_monitor = why is not None, self._is_in_monitor()
            self.seconds = self._time()
        except Ended as error:
            self.ended = f"the machine ended: {error}"

    def _run_to_end(self) -> Why | None:
        """None: somebody came there.

        A victim that takes exceptions without end stops the clock of all, and nobody gets on whose timer is yet to come (patience.py). On a processor it would
        not: so it is held, and the others go on until one of them may have kicked it. Then it has its turns, until the clock stands again.
        """
        patience, exits, unmoved, turns = Patience(self._machine, LAST_SECONDS), -1, 0, 0
        while True:
            why = self._go_on(patience, ())
            if why != Why.STANDS:
                return why
            turns += 1
            if turns < TURNS:
                continue  # its turn has passed to the others, who may have kicked it and not come to wait for the answer
            self.holds, turns = self.holds + 1, 0
            before, exits = exits, self._exits()
            unmoved = unmoved + 1 if exits == before else 0
            why = self._go_on(patience, (CORES[VICTIM],), self._symbols[WAITS] if unmoved < MOST_UNMOVED else None)
            if why or self._is_at_end:
                return why

    def _go_on(self, patience: Patience, held: tuple[int, ...], also_at: int | None = None) -> Why | None:
        """None: somebody has come to the end, or to `also_at`."""
        patience.go_on()
        if also_at is not None:
            self._stub.stop_at(also_at)
        core = self._stub.run(patience.over, held, is_soon=self.holds > 0)
        if also_at is not None:
            self._stub.pass_by(also_at)
        if isinstance(core, Why):
            return core
        self._is_at_end = self._stub.read_register(core, self._registers.pc) & ~1 == self._symbols[END] & ~1
        return None

    def _time(self) -> float:
        """Of the machine, which stands. Its emulator looks at its clock's network and at its debugger's port in turns, so what that answers afterwards
        is a sign that a question has been seen; and what was asked since it stands has the same answer.
        """
        self._machine.clock.ask()
        for _ in range(2):
            self._stub.read_register(CORES[VICTIM], self._registers.pc)
        return self._machine.clock.told()

    def _exits(self) -> int:
        """Of the victim."""
        stats = Memory(self._stage.platform, self.ram).stats(self._stage.victim.pool_hpa)
        return sum(stats.exits.values()) if stats else 0

    def _is_in_monitor(self) -> bool:
        """By the mode where the family's status register tells it, else by where the code is."""
        if self._registers.in_guest:
            return not self._registers.in_guest(self._stub.read_register(CORES[VICTIM], "cpsr"))
        image = read_board(self._stage.platform).image_address
        return image <= self._stub.read_register(CORES[VICTIM], self._registers.pc) < image + (1 << 18)

    def settle(self) -> None:
        for _ in range(SETTLING_STEPS):
            for core in CORES.values():  # who kicks, too: until it has, the victim waits for it
                self._stub.step(core)

    def read(self, core: int, names: Iterable[str]) -> Mapping[str, int]:
        return self._stub.read(core, names)

    def peek(self, address: int, size: int) -> int:
        return self._stub.peek(address, size)


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
            return Stub(port, len(CORES), registers.breakpoint_bytes, registers.packet)
        time.sleep(0.005)
    raise BulkheadError(f"the machine did not start: {machine.complaint()}")
