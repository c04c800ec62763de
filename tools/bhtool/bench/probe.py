# SPDX-License-Identifier: Apache-2.0
"""The probe measures in a sandbox and on the bare emulator: both run the same file, and are given the same command."""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bhtool.bench.result import Row
from bhtool.bench.stage import COUNTED, STARTED, Guest, Stage, bare, bare_lines, counting, out_of_time, sandbox_lines, set_up, write_native
from bhtool.config.native import read_elf
from bhtool.errors import BulkheadError
from bhtool.image.build import PROBE, build_platform
from bhtool.image.payloads import Report
from bhtool.machine.console import Uart
from bhtool.machine.emulated import Machine
from bhtool.platforms import Platform

PROBE_NAME = Path(PROBE).name
LIMIT = 120.0
AGREEING, RUNS_AT_MOST = 3, 7

Rows = dict[str, Row]


def require_same_program(stage: Stage, probe: bytes) -> None:
    """What the sandbox is loaded with is what the bare emulator is given, byte by byte."""
    placed = [segment.data for segment in stage.plan.segments]
    for address, content, size in read_elf(probe, PROBE_NAME).loads:
        if bytes(content).ljust(size, b"\0") not in placed:
            raise BulkheadError(f"the image does not hold what {PROBE_NAME} loads at {address:#x}")


@dataclass
class Runs:
    """Repeats until three runs agree: what programs do repeats exactly, and what does not is the emulator's.

    QEMU moves its clock on when all cores sleep. Sometimes it does so before it has counted the last instructions of the
    core that went to sleep, and overshoots the deadline by these: one tick of 1,000, in one run of 40, which two in a row have been seen to do.
    """

    odd: int = 0

    def agreed(self, measure: Callable[[], Rows]) -> Rows:
        seen: list[Rows] = []
        while len(seen) < RUNS_AT_MOST:
            seen.append(measure())
            if seen.count(seen[-1]) == AGREEING:
                self.odd += len(seen) - AGREEING
                return seen[-1]
        raise BulkheadError(f"no {AGREEING} of {RUNS_AT_MOST} runs gave the same figures: {seen}")


@dataclass(frozen=True)
class Probe:
    """One platform, one build of the probe, and a folder for what is made of them. `heard` makes rows of lines, of which the second operand says where."""

    platform: Platform
    content: bytes
    folder: Path
    report: Report
    command: str
    heard: Callable[[Iterable[str], str], Rows]
    runs: Runs = field(default_factory=Runs)

    def alone(self) -> Rows:
        self.report(f"measuring on {self.platform.name}: bare emulator")
        return self.runs.agreed(self._measure_bare)

    def sandbox(self, where: str, guest: Guest | None = None) -> Rows:
        (self.folder / PROBE_NAME).write_bytes(self.content)  # wins over what a build may have made meanwhile
        stage = set_up(self.platform, write_native(self.folder, guest or Guest(self.command)), self.report)
        require_same_program(stage, self.content)
        self.report(f"measuring on {self.platform.name}: {where}")
        return self.runs.agreed(lambda: self._measure_sandbox(stage, where))

    def facts(self) -> dict[str, str]:
        return {
            f"{PROBE_NAME} in both, sha256": hashlib.sha256(self.content).hexdigest(),
            "runs that no other agreed with": str(self.runs.odd),
        }

    def _measure_bare(self) -> Rows:
        platform = bare(self.platform)
        with Machine(platform, self.content, COUNTED) as machine:
            line = Uart(machine.serials[platform.emulator.serials[0]])
            for said in bare_lines(machine, line, LIMIT):
                if STARTED in said:
                    line.write(f"{self.command}\r".encode())
                    return self.heard(bare_lines(machine, line, LIMIT), "bare emulator")
        raise out_of_time("starting the bare emulator", LIMIT)

    def _measure_sandbox(self, stage: Stage, where: str) -> Rows:
        with stage.session(COUNTED) as session:
            return self.heard(sandbox_lines(session, "measured", LIMIT), where)


@contextmanager
def probe_of(platform: Platform, report: Report, command: str, heard: Callable[[Iterable[str], str], Rows]) -> Iterator[Probe]:
    build_platform(platform, report)
    content = (platform.build / PROBE).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        yield Probe(counting(platform), content, Path(folder), report, command, heard)
