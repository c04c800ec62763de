# SPDX-License-Identifier: Apache-2.0
"""From reset to the first guest instruction of the last of four sandboxes, every payload in place.

Twice over: by the machine's own clock, which takes a nanosecond for every instruction of any core but also runs on while
all of them sleep, and counted one by one in the emulator's log, which leaves out firmware and sleep, and tells what monitors
execute, start-up and the exits of those sandboxes that already run, from what these do themselves.
"""

from bhtool import paths
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import COUNTED, counting, out_of_time, refuse_end, set_up
from bhtool.bench.trace import instructions_to_last_guest
from bhtool.config.native import read_elf
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.image.build import KERNEL, MONITOR
from bhtool.image.payloads import Report
from bhtool.machine.memory import Stats
from bhtool.machine.session import MonitorEvent, Session
from bhtool.platforms import Platform

PARTITION = paths.PARTITIONS / "native.dts"
LIMIT = 180.0
TARGET = 900_000
OWN_TARGET = 300_000


def started(session: Session) -> list[Stats]:
    """Every sandbox's statistics, once all have been entered."""
    for event in session.events(LIMIT):
        if isinstance(event, MonitorEvent):
            raise BulkheadError(f"{session.platform.name} does not start: {event.text}")
        if event is not None:
            refuse_end(session, event)
            continue
        found = [watch.stats for watch in session.watches.values() if watch.stats and watch.stats.start_clock]
        if len(found) == len(session.watches):
            return found
    raise out_of_time(f"starting {PARTITION.name}", LIMIT)


def by_clock(platform: Platform, stats: list[Stats]) -> list[Row]:
    """What the monitors noted: when start-up was entered, and when each sandbox was."""
    entered, last = stats[0].boot_clock, max(one.start_clock for one in stats)
    each = [one.start_clock - entered for one in stats]
    if FAMILIES[platform.arch].counting.sleeps_at_start:
        unit = "ns"
        whole = Row.of("reset to last sandbox", unit, [last])
    else:
        unit = "instructions"
        whole = Row.of("reset to last sandbox", unit, [last], FAMILIES[platform.arch].counting.bao_boot).at_most(TARGET)
    return [whole, Row.of("reset to C code", unit, [entered]), Row.of("C code to each sandbox", unit, each)]


def run(platform: Platform, report: Report) -> Result:
    stage = set_up(counting(platform), PARTITION, report)
    report(f"measuring on {platform.name}: start of {PARTITION.name} by the clock")
    with stage.session(COUNTED) as session:
        rows = by_clock(platform, started(session))
    report(f"measuring on {platform.name}: start of {PARTITION.name} by instructions")
    monitor = read_elf((platform.build / MONITOR).read_bytes(), MONITOR)
    kernel = read_elf((platform.build / KERNEL).read_bytes(), KERNEL)
    counted = instructions_to_last_guest(stage, monitor, kernel)
    whole = Row.of("monitor entry to last sandbox", "instructions", [counted.together], FAMILIES[platform.arch].counting.bao_boot)
    own = Row.of("of these the monitors' own", "instructions", [counted.monitors])
    rows += [whole.at_most(TARGET), own.at_most(OWN_TARGET)]
    return Result("boot", platform.name, rows)
