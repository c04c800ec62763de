# SPDX-License-Identifier: Apache-2.0
"""What messages between sandboxes cost: through the library alone and thread to thread through the kernel, against Bao; and how long they take between VCPUs.

The probe measures (tests/guests/probe/channels.c): each end in turns, while the other sleeps, and a figure is the sum of what both execute. Of a call in a loop
it is what a loop that does nothing takes less. Targets are those of AArch64, where Bao was counted, in the same way; elsewhere figures stand beside them.
"""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from bhtool.bench.between import CHANNELS, DOORBELLS, FAR, NEAR, lines_of, stage_of
from bhtool.bench.exchange import SEED, Costs, Exchange, Vcpu, as_printed, exchange_times, predicted
from bhtool.bench.probe import Runs
from bhtool.bench.result import Result, Row
from bhtool.bench.sched import is_judged
from bhtool.bench.stage import counting, out_of_time
from bhtool.errors import BulkheadError
from bhtool.image.build import build_platform
from bhtool.image.payloads import Report
from bhtool.platforms import Platform

COMMAND, LIMIT = "bench-channels", 120.0
BELLS = "bench-bells"
ANSWER = re.compile(r": channel (.+): (send|take) min (\d+) median (\d+) max (\d+) mean \d+ of (\d+)$")
DONE, FAILED = ": channel done", ": channel: "
QUICK_TRIALS = 20

Ends = dict[str, dict[str, Row]]  # what: send, take


@dataclass(frozen=True)
class Known:
    """The most that a figure may be, what Bao takes for the same, and what it is."""

    title: str
    limit: int | None = None
    bao: int | None = None


ONE_WAY, BOTH_WAYS = 754, 2135  # Bao, from a send to a receive, and back; with six exits
RING, KERNEL, BACK, NOTHING = "ring", "kernel", "kernel, there and back", "ring, nothing there"
MEMCPY, PAGE = "memcpy of 4 KiB", "4 KiB in place"
HANDLER, THREAD = "doorbell, handler", "doorbell, thread"
KNOWN = {
    RING: Known("ring in place, one way", 60, ONE_WAY),
    "ring, filled and used": Known("the same, 64 bytes written and read", None, ONE_WAY),
    NOTHING: Known("a look that finds nothing"),
    "mailbox": Known("mailbox, one way", None, ONE_WAY),
    "latest value": Known("latest value, one way", None, ONE_WAY),
    KERNEL: Known("thread to thread, in place, one way", 150, ONE_WAY),
    BACK: Known("thread to thread, there and back", 400, BOTH_WAYS),
    "kernel, copied": Known("thread to thread, copied twice, one way", None, ONE_WAY),
    MEMCPY: Known("memcpy of 4 KiB"),
    PAGE: Known("ring in place, 4 KiB copied in, one way"),
}
BOTH = {"send", "take"}
RINGING = Known("doorbell: its sender", 120, 337)
DOORBELL = {
    HANDLER: Known("doorbell to the handler", 300, ONE_WAY),
    THREAD: Known("doorbell to the thread", 650),
}
ONE_ENDED = {NOTHING: {"take"}, MEMCPY: {"send"}}
THROUGHPUT, LEAST_PER_CENT = "4 KiB in place, throughput of memcpy's", 90
EXITS, BAO_EXITS = "exits of both ends", 6


def heard(lines: Iterable[str], wanted: Collection[str] = KNOWN.keys()) -> Ends:
    """What each end says of each thing, once both are done."""
    ends: Ends = {}
    done = 0
    for line in lines:
        if found := ANSWER.search(line):
            what, end, low, middle, high, n = found.groups()
            ends.setdefault(what, {})[end] = Row(f"{what}: {end}", "instructions", int(n), int(low), int(middle), int(high))
        elif FAILED in line:
            raise BulkheadError(f"the probe cannot measure: {line}")
        done += line.endswith(DONE)
        if done == len((NEAR, FAR)):
            if missing := [name for name in wanted if ends.get(name, {}).keys() != ONE_ENDED.get(name, BOTH)]:
                raise BulkheadError(f"the probe has not measured {', '.join(missing)}")
            return ends
    raise out_of_time("measuring channels", LIMIT)


def both(name: str, ends: dict[str, Row]) -> Row:
    """What the ends execute."""
    rows = ends.values()
    low, middle, high = (sum(samples) for samples in zip(*((row.min, row.median, row.max) for row in rows), strict=True))
    return Row(name, "instructions", next(iter(rows)).n, low, middle, high)


def judged(known: Known, ends: dict[str, Row], has_targets: bool) -> Row:
    row = replace(both(known.title, ends), reference=known.bao)
    return row if known.limit is None or not has_targets else row.at_most(known.limit)


def bell_rows(ends: Ends, has_targets: bool) -> list[Row]:
    """Who rings executes the same whatever the other end makes of it."""
    ringing = judged(RINGING, {"send": ends[HANDLER]["send"]}, has_targets)
    return [ringing, *(judged(known, ends[what], has_targets) for what, known in DOORBELL.items())]


def cost_rows(ends: Ends, has_targets: bool) -> list[Row]:
    rows = [judged(known, ends[what], has_targets) for what, known in KNOWN.items()]
    copied, page = both(MEMCPY, ends[MEMCPY]), both(PAGE, ends[PAGE])
    share = Row.of(THROUGHPUT, "per cent", [100 * copied.min // page.max, 100 * copied.median // page.median])
    return [*rows, share.at_least(LEAST_PER_CENT) if has_targets else share]


def end_rows(ends: Ends) -> list[Row]:
    """Of each end alone, where both do something."""
    return [row for what, pair in ends.items() if what not in ONE_ENDED for row in pair.values()]


def peer_of(name: str) -> str:
    known = next((one for one in (*KNOWN.values(), RINGING, *DOORBELL.values()) if one.title == name), Known(name))
    return "" if known.bao is None else f"Bao: {known.bao:,}"


def agreed(measure: Callable[[], Ends]) -> tuple[Ends, int]:
    """What runs agree in, and how many were odd."""
    runs, ends = Runs(), Ends()

    def measured() -> dict[str, Row]:
        return {row.name: row for pair in measure().values() for row in pair.values()}

    for name, row in runs.agreed(measured).items():
        what, _, end = name.rpartition(": ")
        ends.setdefault(what, {})[end] = row
    return ends, runs.odd


def costs(platform: Platform, report: Report) -> tuple[Ends, int, int]:
    """What each end takes, how often both exited meanwhile, and how many runs were odd. `platform`: one that counts."""
    stage, exits = stage_of(platform, COMMAND, COMMAND, report), dict[str, int]()
    report(f"measuring on {platform.name}: channels")
    ends, odd = agreed(lambda: heard(lines_of(stage, LIMIT, exits)))
    return ends, sum(exits.values()), odd


def bell_costs(platform: Platform, report: Report) -> tuple[Ends, int]:
    """What rings take, and how many runs were odd. `platform`: as of costs."""
    stage = stage_of(platform, BELLS, BELLS, report, CHANNELS + DOORBELLS)
    report(f"measuring on {platform.name}: doorbells")
    return agreed(lambda: heard(lines_of(stage, LIMIT), DOORBELL))


# ---- How long messages take ---------------------------------------------------------------------------------------------------------

SIZES = tuple(64 * 4**n for n in range(9))  # 64 bytes to 4 MiB
FOUR_MIB = SIZES[-1]
paper = Vcpu.of_paper
FIGURE_16 = {
    "high": Exchange(paper(50, 100), paper(50, 100), SIZES),
    "low": Exchange(paper(40, 100), paper(40, 100), SIZES, shell=paper(10, 50)),
}
TABLE_I = [
    Exchange(paper(20, 100), receiver, (4096,), answer=4096, poll_ns=0)
    for receiver in map(paper, (2, 20, 20, 20, 20), (10, 100, 130, 200, 230))
]
TABLE_II = [
    Exchange(paper(*sender), paper(*receiver), (FOUR_MIB,), poll_ns=0)
    for sender, receiver in (
        ((20, 50), (20, 50)),
        ((10, 100), (10, 100)),
        ((10, 100), (10, 50)),
        ((10, 100), (10, 200)),
        ((5, 100), (5, 130)),
        ((10, 200), (10, 200)),
    )
]
LONG_SHARE = 50  # of the trials of short messages, one of so many of 4 MiB in table II


def bounded(row: Row, exchange: Exchange, costs: Costs) -> Row:
    bound = predicted(exchange, exchange.sizes[0], costs)
    return row if bound is None else replace(row.at_most(bound), reference=bound)


def figure_16(platform: Platform, trials: int, report: Report) -> list[Row]:
    """Named as plots group them."""
    rows = []
    for where, one in FIGURE_16.items():
        times, _ = exchange_times(platform, one, trials, report)
        rows += [replace(each.one_way, name=f"one way, {size:,}: {where}") for size, each in times.items()]
    return rows


def tables(platform: Platform, trials: int, report: Report) -> tuple[list[Row], dict[str, str]]:
    """And, by their names, what the papers' equations say."""
    rows, printed = [], {}
    for table, each in (("I", TABLE_I), ("II", TABLE_II)):
        for number, one in enumerate(each, 1):
            count = 2 * trials if table == "I" else max(10, trials // LONG_SHARE)
            found, costs = exchange_times(platform, one, count, report)
            times = found[one.sizes[0]]
            if table == "I":
                row = replace(times.both, name=f"table I, case {number}: {one.sender} and {one.receiver}, 4 KiB there and back")
            else:
                row = replace(times.one_way, name=f"table II, case {number}: {one.sender} to {one.receiver}, 4 MiB one way")
            rows.append(bounded(row, one, costs))
            printed[row.name] = f"{as_printed(one, one.sizes[0], costs):,}"
    return rows, printed


def run(platform: Platform, report: Report, trials: int = QUICK_TRIALS) -> Result:
    build_platform(platform, report)
    counted = counting(platform)
    ends, exits, odd = costs(counted, report)
    bells, odd_bells = bell_costs(counted, report)
    has_targets = is_judged(platform)
    crossed = replace(Row.of(EXITS, "exits", [exits]).at_most(0), reference=BAO_EXITS)
    rows = [*cost_rows(ends, has_targets), *bell_rows(bells, has_targets), crossed, *end_rows(ends | bells)]
    times, printed = tables(counted, trials, report)
    rows += figure_16(counted, trials, report) + times
    facts = {"runs that no other agreed with": str(odd + odd_bells), "seed of the pauses": str(SEED)}
    return Result("channel", platform.name, rows, facts | {f"{name}, as the papers print it": ns for name, ns in printed.items()})
