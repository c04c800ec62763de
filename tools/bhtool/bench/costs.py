# SPDX-License-Identifier: Apache-2.0
"""What an exit of each kind costs, as the sandbox sees it, and how late its timer comes while it storms its own monitor.

Each of 1,000 trips is measured by itself, in instructions, less what the same takes where nothing exits: tests/guests/probe/bench.c. A kick until it is
answered takes the victim's instructions, too; the sender's own are told from the emulator's log.
"""

import re
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bhtool.bench import kicks
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import COUNTED, Guest, counting, out_of_time, sandbox_lines, set_up, write_native
from bhtool.bench.trace import chunks, logged
from bhtool.config.channel_places import LARGE_ON_REQUEST
from bhtool.families.table import FAMILIES
from bhtool.image.payloads import Report
from bhtool.platforms import Platform

SAMPLES = 1000  # tests/guests/probe/bench.c
KICKS = 40
LIMITS = {"call": 120, "ipi": 180, "device-read": 300, "device-write": 300, "register": 250, "identify": 200, "idle": 200, "kick": 600}
KINDS = ("call", "ipi", "device-read", "device-write", "register")
STORMS = ("call", "device-read", "device-write", "register", "refused")
TURNS = {"open": "opened", "close": "closed"}  # an end of a channel
TURNED = {  # which, as the probe calls them, and their slots and bytes of a slot: the least that there is, and the most in each of the two stretches
    "": ("12 KiB", (2, 64)),
    "-largest": ("2 MiB", (2, 1_044_288)),
    "-huge": ("1 GiB", (1024, 1_048_448)),  # where guests have the addresses
}
SPREAD = 1.5  # the greatest, of the median
STORM_LIMIT = 450
ANSWER = re.compile(r": (?:trips|bench-timer) (\S+) min (\d+) median (\d+) max (\d+) ticks$")
LIMIT = 240.0


def limit_of(platform: Platform, kind: str) -> int:
    return int(LIMITS[kind] * FAMILIES[platform.arch].counting.cost_share)


def judged(row: Row, limit: int) -> Row:
    """With a target for its median, and for its largest sample beside that."""
    return replace(
        row, target=f"median at most {limit}, maximum {SPREAD} times it", met=row.median <= limit and row.max <= SPREAD * row.median
    )


def answers(
    platform: Platform, guest: Guest, kinds: Collection[str], sandbox: str, report: Report, extra: Sequence[str] = ()
) -> Iterator[tuple[str, Row]]:
    """What the sandbox says of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        stage = set_up(platform, write_native(Path(folder), guest), report)
    left = set(kinds)
    with stage.session(COUNTED, extra) as session:
        for line in sandbox_lines(session, sandbox, LIMIT):
            if found := ANSWER.search(line):
                kind, low, middle, high = found.groups()
                left.remove(kind)
                yield kind, Row(f"exit={kind}", "instructions", SAMPLES, int(low), int(middle), int(high))
            if not left:
                return
    raise out_of_time(f"measuring {', '.join(left)}", LIMIT)


def sent(platform: Platform, report: Report) -> list[int]:
    """What the sender's own core executes in its monitor, polls for the answer included, kick by kick; the victim sleeps."""
    stage = kicks.prepare(platform, "sleep", report, f"kick=0,{KICKS + 1}")  # the last is counted before the one after it is sent
    at = kicks.places(stage)
    samples: list[int] = []
    with logged(stage, kicks.SLOW, at.resident, at.guest) as (session, pipe):
        for cost in kicks.sendings(chunks(pipe, LIMIT), at):
            samples.append(cost)
            session.poll()
            stats = session.watches[kicks.VICTIM].stats
            if stats and stats.kicks >= KICKS:
                return samples[-KICKS // 2 :]
    raise out_of_time("kicking", LIMIT)


def kick_rows(platform: Platform, report: Report) -> list[Row]:
    """What sending costs, judged; and all that is executed until the answer."""
    guest = Guest("heartbeat=0 sleep", kickable=True, neighbour="heartbeat=0 ticks=100 trips=kick")
    [(_, answered)] = answers(platform, guest, ("kick",), "neighbour", report)
    own = Row.of("exit=kick", "instructions", sent(platform, report))
    return [judged(own, limit_of(platform, "kick")), replace(answered, name="a kick until its answer, the victim's part included")]


def turn_rows(platform: Platform, report: Report) -> list[Row]:
    """A channel opened and closed, whatever its size. On a PC with the kick by which its core forgets it."""
    is_wide = FAMILIES[platform.arch].programs.address_end > LARGE_ON_REQUEST
    turned = {which: what for which, what in TURNED.items() if is_wide or which != "-huge"}
    kinds = [f"{turn}{which}" for which in turned for turn in TURNS]
    words = " ".join(("heartbeat=0", *(f"trips={kind}" for kind in kinds)))
    guest = Guest(words, kickable=True, on_request=tuple(slots for _, slots in turned.values()))
    rows = dict(answers(platform, guest, kinds, "measured", report))
    return [
        replace(rows[f"{turn}{which}"], name=f"a channel of {size} {done}")
        for which, (size, _) in turned.items()
        for turn, done in TURNS.items()
    ]


def cost_rows(platform: Platform, report: Report) -> list[Row]:
    machine = counting(platform)
    monitor = FAMILIES[platform.arch].monitor
    kinds = (*KINDS, *(["identify"] if monitor.exits_to_identify else []), *(["idle"] if monitor.exits_to_sleep else []))
    report(f"counting on {platform.name}: exits, one by one")
    guest = Guest(" ".join(("heartbeat=0", *(f"trips={kind}" for kind in kinds))), kickable=monitor.exits_to_sleep)
    found = answers(machine, guest, kinds, "measured", report)
    return [judged(row, limit_of(platform, kind)) for kind, row in found] + kick_rows(machine, report) + turn_rows(machine, report)


def storm_rows(platform: Platform, report: Report) -> list[Row]:
    """The worst lateness of the timer in a sandbox that does nothing but exit."""
    machine = counting(platform)
    kinds = (*STORMS, "identify") if FAMILIES[platform.arch].monitor.exits_to_identify else STORMS
    report(f"measuring on {platform.name}: the timer in a storm of exits")
    guest = Guest(" ".join(("heartbeat=0", *(f"bench-timer={kind}" for kind in kinds))))
    limit = int(STORM_LIMIT * FAMILIES[platform.arch].counting.cost_share)
    return [replace(row, name=f"storm={kind}").at_most(limit) for kind, row in answers(machine, guest, kinds, "measured", report)]


def run(platform: Platform, report: Report) -> Result:
    return Result("costs", platform.name, cost_rows(platform, report))
