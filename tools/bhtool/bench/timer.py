# SPDX-License-Identifier: Apache-2.0
"""From the expiry of the timer to the first instruction of its handler, in a sandbox and on the bare emulator.

Instructions are counted exactly: the emulator takes one nanosecond for each, and the counter that the kernel reads ticks
in nanoseconds. Both machines run the same file; the command is given as an argument to one and typed to the other.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from bhtool.bench.probe import LIMIT, Probe, Rows, probe_of
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import Guest, out_of_time
from bhtool.families.table import FAMILIES
from bhtool.image.payloads import Report
from bhtool.platforms import Platform

MODES = ("busy", "wfi")
COMMAND = " ".join(f"bench-timer={mode}" for mode in MODES)
SAMPLES = 1000  # tests/guests/probe/bench.c
ANSWER = re.compile(r": bench-timer (\w+) min (\d+) median (\d+) max (\d+) ticks$")


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


def compare(sandbox: Rows, alone: Rows, judged: Collection[str] = MODES) -> list[Row]:
    """The sandbox's rows against those of the bare emulator: as a target, or for the record alone."""
    return [
        sandbox[mode].same_as(alone[mode]) if mode in judged else replace(sandbox[mode], reference=alone[mode].median) for mode in MODES
    ]


def rows_of(bench: Probe) -> list[Row]:
    alone = bench.alone()
    rows = [*alone.values(), *compare(bench.sandbox("sandbox"), alone)]
    if FAMILIES[bench.platform.arch].monitor.exits_to_sleep:
        trapped = bench.sandbox("sandbox that may be kicked", Guest(COMMAND, kickable=True))
        trusted = bench.sandbox("the same with trusted-idle", Guest(COMMAND, kickable=True, trusted_idle=True))
        rows += [*compare(trapped, alone, judged=("busy",)), *compare(trusted, alone)]
    return rows


def run(platform: Platform, report: Report) -> Result:
    with probe_of(platform, report, COMMAND, heard) as bench:
        return Result("timer", platform.name, rows_of(bench), bench.facts())
