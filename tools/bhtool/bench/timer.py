# SPDX-License-Identifier: Apache-2.0
"""From the expiry of the timer to the first instruction of its handler, in a sandbox and on the bare emulator.

Instructions are counted exactly: the emulator takes one nanosecond for each, and the counter that the kernel reads ticks
in nanoseconds. Both machines run the same file; the command is given as an argument to one and typed to the other.
"""

import hashlib
import re
import tempfile
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from bhtool.bench.result import Result, Row
from bhtool.bench.stage import (
    COUNTED,
    STARTED,
    Guest,
    Stage,
    bare,
    bare_lines,
    counting,
    out_of_time,
    sandbox_lines,
    set_up,
    write_native,
)
from bhtool.config.native import read_elf
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.image.build import PROBE, build_platform
from bhtool.image.payloads import Report
from bhtool.machine.console import Uart
from bhtool.machine.emulated import Machine
from bhtool.platforms import Platform

PROBE_NAME = Path(PROBE).name
MODES = ("busy", "wfi")
COMMAND = " ".join(f"bench-timer={mode}" for mode in MODES)
SAMPLES = 1000  # tests/guests/probe/bench.c
ANSWER = re.compile(r": bench-timer (\w+) min (\d+) median (\d+) max (\d+) ticks$")
LIMIT = 120.0
AGREEING, RUNS_AT_MOST = 3, 7

Rows = dict[str, Row]


def heard(lines: Iterable[str], where: str) -> Rows:
    """A row for every mode, as soon as all have been measured."""
    rows: Rows = {}
    for line in lines:
        if found := ANSWER.search(line):
            mode, low, middle, high = found.groups()
            rows[mode] = Row(f"{mode}, {where}", "instructions", SAMPLES, int(low), int(middle), int(high))
        if rows.keys() >= set(MODES):
            return rows
    raise out_of_time(f"measuring the timer, {where},", LIMIT)


def measure_bare(platform: Platform, probe: bytes) -> Rows:
    label = platform.emulator.serials[0]
    with Machine(platform, probe, COUNTED) as machine:
        line = Uart(machine.serials[label])
        for said in bare_lines(machine, line, LIMIT):
            if STARTED in said:
                line.write(f"{COMMAND}\r".encode())
                return heard(bare_lines(machine, line, LIMIT), "bare emulator")
    raise out_of_time("starting the bare emulator", LIMIT)


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


def measure_sandbox(stage: Stage, where: str) -> Rows:
    with stage.session(COUNTED) as session:
        return heard(sandbox_lines(session, "measured", LIMIT), where)


def compare(sandbox: Rows, alone: Rows, judged: Collection[str] = MODES) -> list[Row]:
    """The sandbox's rows against those of the bare emulator: as a target, or for the record alone."""
    return [
        sandbox[mode].same_as(alone[mode]) if mode in judged else replace(sandbox[mode], reference=alone[mode].median) for mode in MODES
    ]


@dataclass(frozen=True)
class Bench:
    """One platform, one build of the probe, and a folder for what is made of them."""

    platform: Platform
    probe: bytes
    folder: Path
    report: Report
    runs: Runs = field(default_factory=Runs)

    def alone(self) -> Rows:
        self.report(f"measuring on {self.platform.name}: bare emulator")
        return self.runs.agreed(lambda: measure_bare(bare(self.platform), self.probe))

    def sandbox(self, where: str, guest: Guest) -> Rows:
        (self.folder / PROBE_NAME).write_bytes(self.probe)  # wins over what a build may have made meanwhile
        stage = set_up(self.platform, write_native(self.folder, guest), self.report)
        require_same_program(stage, self.probe)
        self.report(f"measuring on {self.platform.name}: {where}")
        return self.runs.agreed(lambda: measure_sandbox(stage, where))

    def rows(self) -> list[Row]:
        alone = self.alone()
        rows = [*alone.values(), *compare(self.sandbox("sandbox", Guest(COMMAND)), alone)]
        if FAMILIES[self.platform.arch].monitor.exits_to_sleep:
            trapped = self.sandbox("sandbox that may be kicked", Guest(COMMAND, kickable=True))
            trusted = self.sandbox("the same with trusted-idle", Guest(COMMAND, kickable=True, trusted_idle=True))
            rows += [*compare(trapped, alone, judged=("busy",)), *compare(trusted, alone)]
        return rows


def run(platform: Platform, report: Report) -> Result:
    build_platform(platform, report)
    probe = (platform.build / PROBE).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(counting(platform), probe, Path(folder), report)
        facts = {f"{PROBE_NAME} in both, sha256": hashlib.sha256(probe).hexdigest()}
        rows = bench.rows()
    return Result("timer", platform.name, rows, facts | {"runs that no other agreed with": str(bench.runs.odd)})
