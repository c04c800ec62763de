# SPDX-License-Identifier: Apache-2.0
"""Restarts in a row of sandboxes of two sizes: instructions from the fault to the first instruction of the next life.

Nothing else runs on the machine, whose clock counts instructions. Each life says how long it took to begin, and faults.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import jinja2

from bhtool.bench.result import Result, Row
from bhtool.bench.stage import COUNTED, Stage, counting, out_of_time, set_up
from bhtool.errors import BulkheadError
from bhtool.image.payloads import Report
from bhtool.machine.session import EndEvent, LineEvent, Session
from bhtool.platforms import Platform

TEMPLATE = Path(__file__).with_name("restart.dts.j2")
SIZES_MIB = (4, 16)
RESTARTS = 1000
ANSWER = re.compile(r": restarted in (\d+) ticks$")
LIMIT = 400.0


def write_partition(folder: Path, mib: int, restarts: int, device: str = "") -> Path:
    """`device`: by its role label; empty: the sandbox has none."""
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "restart.dts"
    file.write_text(template.render(mib=mib, restarts=restarts, device=device), encoding="utf-8")
    return file


def beginnings(session: Session) -> Iterator[int]:
    """How many ticks each life took to begin, the first of all included, which took none."""
    for event in session.events(LIMIT):
        if isinstance(event, EndEvent):
            raise BulkheadError(f"{session.platform.name} ended while it was measured, status {event.status} {event.complaint}".rstrip())
        if isinstance(event, LineEvent) and (found := ANSWER.search(event.text)):
            yield int(found[1])


def measured(stage: Stage, restarts: int) -> list[int]:
    """One figure for every restart."""
    found: list[int] = []
    with stage.session(COUNTED) as session:
        for ticks in beginnings(session):
            found.append(ticks)
            if len(found) > restarts:
                return found[1:]
    raise out_of_time(f"{restarts} restarts", LIMIT)


def run(platform: Platform, report: Report, restarts: int = RESTARTS) -> Result:
    rows = []
    for mib in SIZES_MIB:
        with tempfile.TemporaryDirectory() as folder:
            stage = set_up(counting(platform), write_partition(Path(folder), mib, restarts), report)
        report(f"counting on {platform.name}: {restarts} restarts of {mib} MiB")
        bound = stage.plan.sandboxes[0].restart_instructions
        rows.append(Row.of(f"restart of {mib} MiB", "instructions", measured(stage, restarts)).at_most(bound))
    return Result("restart", platform.name, rows)
