# SPDX-License-Identifier: Apache-2.0
"""From the expiry of the timer to the first instruction of its handler, in a sandbox and on the bare emulator.

Instructions are counted exactly: the emulator takes one nanosecond for each, and the counter that the kernel reads ticks
in nanoseconds. Both machines run the same file; the command is given as an argument to one and typed to the other.
"""

import hashlib
import re
import tempfile
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from bhtool.bench.result import Result, Row
from bhtool.bench.stage import COUNTED, IDLE_TRAPS, Stage, bare, bare_lines, counting, out_of_time, sandbox_lines, set_up, write_native
from bhtool.build import build_platform
from bhtool.config.native import read_elf
from bhtool.console import Uart
from bhtool.errors import BulkheadError
from bhtool.machine import Machine
from bhtool.payloads import Report
from bhtool.platforms import Platform

KERNEL = "sandbox-kernel.elf"
MODES = ("busy", "wfi")
COMMAND = " ".join(f"bench-timer={mode}" for mode in MODES)
SAMPLES = 1000  # kernel/bench.c
ANSWER = re.compile(r": bench-timer (\w+) min (\d+) median (\d+) max (\d+) ticks$")
LIMIT = 120.0

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


def measure_bare(platform: Platform, kernel: bytes) -> Rows:
    label = platform.emulator.serials[0]
    with Machine(platform, kernel, COUNTED) as machine:
        line = Uart(machine.serials[label])
        for said in bare_lines(machine, line, LIMIT):
            if said.endswith(": ready"):
                line.write(f"{COMMAND}\r".encode())
                return heard(bare_lines(machine, line, LIMIT), "bare emulator")
    raise out_of_time("starting the bare emulator", LIMIT)


def require_same_program(stage: Stage, kernel: bytes) -> None:
    """What the sandbox is loaded with is what the bare emulator is given, byte by byte."""
    placed = [segment.data for segment in stage.plan.segments]
    for address, content, size in read_elf(kernel, KERNEL).loads:
        if content.ljust(size, b"\0") not in placed:
            raise BulkheadError(f"the image does not hold what {KERNEL} loads at {address:#x}")


def measure_sandbox(platform: Platform, partition: Path, kernel: bytes, where: str, report: Report) -> Rows:
    stage = set_up(platform, partition, report)
    require_same_program(stage, kernel)
    report(f"measuring on {platform.name}: {where}")
    with stage.session(COUNTED) as session:
        return heard(sandbox_lines(session, "measured", LIMIT), where)


def compare(sandbox: Rows, alone: Rows, judged: Collection[str] = MODES) -> list[Row]:
    """The sandbox's rows against those of the bare emulator: as a target, or for the record alone."""
    return [
        sandbox[mode].same_as(alone[mode]) if mode in judged else replace(sandbox[mode], reference=alone[mode].median) for mode in MODES
    ]


def run(platform: Platform, report: Report) -> Result:
    machine = counting(platform)
    build_platform(platform, report)
    kernel = (platform.build / "kernel" / KERNEL).read_bytes()
    report(f"measuring on {platform.name}: bare emulator")
    alone = measure_bare(bare(machine), kernel)
    rows = list(alone.values())
    idle_traps = platform.backend in IDLE_TRAPS
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / KERNEL).write_bytes(kernel)  # wins over what a build may have made meanwhile
        found = measure_sandbox(machine, write_native(Path(folder), COMMAND), kernel, "sandbox", report)
        rows += compare(found, alone, ("busy",) if idle_traps else MODES)
        if idle_traps:
            trusted = write_native(Path(folder), COMMAND, trusted_idle=True)
            rows += compare(measure_sandbox(machine, trusted, kernel, "sandbox with trusted-idle", report), alone)
    return Result("timer", platform.name, rows, {f"{KERNEL} in both, sha256": hashlib.sha256(kernel).hexdigest()})
