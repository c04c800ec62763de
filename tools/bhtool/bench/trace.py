# SPDX-License-Identifier: Apache-2.0
"""Instructions counted one by one, from the emulator's own log, where its clock says more than was executed.

Every instruction is a translation block of its own, and QEMU writes a line for each, into a pipe:

    Trace CPU: HOST-ADDRESS [CS-BASE/PC/FLAGS/CFLAGS]
    Stopped execution of TB chain before ...      the block just named was not executed after all
"""

import os
import re
import select
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bhtool.bench.stage import COUNTED, Stage, out_of_time
from bhtool.config.native import Elf
from bhtool.errors import BulkheadError
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.session import Session

LINE = re.compile(rb"^(?:Trace (\d+): \S+ \[[0-9a-f]+/([0-9a-f]+)/|(Stopped))", re.MULTILINE)
CHUNK_BYTES = 1 << 20
LIMIT = 300.0

Span = tuple[int, int]


def span(elf: Elf) -> Span:
    """From its first byte in memory to the one after its last."""
    return min(address for address, _, _ in elf.loads), max(address + size for address, _, size in elf.loads)


def chunks(pipe: int, limit: float) -> Iterator[bytes]:
    """Whole lines, many at a time, until the writer ends or the time is up."""
    deadline = time.monotonic() + limit
    rest = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            return
        if not (data := os.read(pipe, CHUNK_BYTES)):
            return
        whole, newline, rest = (rest + data).rpartition(b"\n")
        yield whole + newline


@dataclass
class Counted:
    """Instructions of the monitors and of the guests that already run."""

    monitors: int = 0
    guests: int = 0

    @property
    def together(self) -> int:
        return self.monitors + self.guests


def count(log: Iterable[bytes], monitor: Span, guest: Span, cores: set[int]) -> Counted | None:
    """Instructions from the first of the monitor to the first that the last of these cores executes of a guest."""
    counted = Counted()
    waiting = set(cores)
    in_guest = False
    for lines in log:
        for core, address, stopped in LINE.findall(lines):
            if stopped:
                counted.guests -= in_guest and counted.guests > 0
                counted.monitors -= not in_guest and counted.monitors > 0
                continue
            pc = int(address, 16)
            if not counted.monitors and not monitor[0] <= pc < monitor[1]:
                continue
            in_guest = guest[0] <= pc < guest[1]
            if in_guest:
                waiting.discard(int(core))
                if not waiting:
                    return counted
            counted.guests += in_guest
            counted.monitors += not in_guest
    return None


@contextmanager
def logged(stage: Stage, timing: Timing, *spans: Span) -> Iterator[tuple[Session, int]]:
    """The stage's machine, started, and a pipe with a line for every instruction it executes in these spans."""
    wanted = ",".join(f"{start:#x}..{end - 1:#x}" for start, end in spans)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        os.mkfifo(path)
        pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        log = ("-d", "exec,nochain", "-dfilter", wanted, "-D", str(path))
        machine = Machine(stage.platform, stage.image, replace(timing, single_step=True), extra=log)
        try:
            with Session(stage.platform, stage.plan, machine) as session:
                yield session, pipe
        finally:
            os.close(pipe)


def instructions_to_last_guest(stage: Stage, monitor: Elf, guest: Elf) -> Counted:
    """Starts the stage's machine and counts until every sandbox runs. Tens of seconds."""
    spans = span(monitor), span(guest)
    with logged(stage, COUNTED, *spans) as (session, pipe):
        found = count(chunks(pipe, LIMIT), *spans, {sandbox.cores[0] for sandbox in stage.plan.sandboxes})
        ended = session.machine.exit_status() is not None
    if found is None and ended:
        raise BulkheadError(f"{stage.platform.name} ended while its instructions were counted")
    if found is None:
        raise out_of_time("counting instructions", LIMIT)
    return found
