# SPDX-License-Identifier: Apache-2.0
"""What threads and VCPUs cost, in a sandbox and on the bare emulator, against the best peer; and how large the kernel is.

The probe measures everything itself (tests/guests/probe/sched.c), and both machines run the same file, as for `timer`. Instructions are counted in the same
way. Targets are those of AArch64, where the peers were counted; elsewhere figures stand beside them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from bhtool.bench.linked import Linked, read_map
from bhtool.bench.probe import LIMIT, Rows, probe_of
from bhtool.bench.result import Result, Row, spread
from bhtool.bench.stage import Guest, out_of_time
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.image.build import KERNEL
from bhtool.image.payloads import Report
from bhtool.platforms import Platform

COMMAND, TRACED = "bench-sched", "trace=65536 bench-sched"
SAMPLES = 200  # tests/guests/probe/sched.c
ANSWER = re.compile(r": sched (\S+) min (\d+) median (\d+) max (\d+)$")
DONE, FAILED = ": sched done", ": sched: "


def is_judged(platform: Platform) -> bool:
    """Targets are for the family on which other kernels' figures were counted."""
    return FAMILIES[platform.arch].counting.has_peers


@dataclass(frozen=True)
class Known:
    """The most that a figure may be, and what the best peer takes: Zephyr, or seL4 where budgets are charged (docs/benchmarks.md)."""

    limit: int | None = None
    peer: int | None = None
    whose: str = "Zephyr"


KNOWN = {
    "yield-alone": Known(peer=46),
    "yield": Known(95, 99),
    "wake-higher": Known(170, 177),
    "wake-higher-and-back": Known(peer=311),
    "ping-pong": Known(peer=509),
    "wake-vcpu": Known(450, 738, "seL4"),
    "wake-vcpu-and-back": Known(peer=1339, whose="seL4"),
    "lock-unlock": Known(peer=74),
    "give-take": Known(peer=69),
    "queue-round-trip": Known(540, 558),
    "call-reply": Known(580, 604, "seL4"),
    "expiry-busy": Known(400, 417),
    "expiry-idle": Known(peer=417),
    "budget-end": Known(560, 614, "seL4"),
    "refill": Known(700, 1610, "seL4"),
    "make": Known(300, 55),
    "make-first": Known(),
    "decision-1": Known(),
    "decision-24": Known(300),
    "decision-1000": Known(),
}
TRACED_ROW = "wake-vcpu"
FEW, MANY = "decision-24", "decision-1000"
OF_FEW, GROWTH = f"{MANY}, of {FEW}", Known(160, 150, "Zephyr's tree")  # per cent; the peer's is from 1 to 999 threads
UNLIKE = "unlike the bare emulator"
KERNEL_BYTES = 32 << 10
PROGRAMS = (  # what runs on the kernel, and is linked with it: the shell, its commands, and what they start
    "core_channel_programs.c",
    "core_command.c",
    "core_commands.c",
    "core_line_edit.c",
    "core_programs.c",
    "core_shell.c",
    "core_shell_channels.c",
    "core_shell_help.c",
    "core_shell_vcpus.c",
    "core_tlb_walk.c",
    "core_work.c",
    "sandbox_kernel.c",
)
SCHEDULER = (
    "sched_",
    "core_thread.c",
    "core_thread_end.c",
    "core_thread_move.c",
    "core_thread_slice.c",
    "core_thread_vcpu.c",
    "core_sync.c",
    "core_timer.c",
    "core_stacks.c",
    "core_vcpus.c",
    "core_admit.c",
    "_switch.S",
    "_timer_hw.c",
)


def heard(lines: Iterable[str], where: str) -> Rows:
    """A row for everything that the probe has measured, once it says that it has."""
    rows: Rows = {}
    for line in lines:
        if found := ANSWER.search(line):
            name, low, middle, high = found.groups()
            rows[name] = Row(name, "instructions", SAMPLES, int(low), int(middle), int(high))
        elif FAILED in line:
            raise BulkheadError(f"the probe cannot measure: {line}")
        elif line.endswith(DONE):
            if missing := [name for name in KNOWN if name not in rows]:
                raise BulkheadError(f"the probe has not measured {', '.join(missing)}")
            return rows
    raise out_of_time(f"measuring threads and VCPUs, {where},", LIMIT)


def judged(row: Row, known: Known, is_judged: bool) -> Row:
    row = replace(row, reference=known.peer)
    return row if known.limit is None or not is_judged else row.at_most(known.limit)


def growth(few: Row, many: Row) -> Row:
    """Of its median and of its greatest, in whole per cent, rounded up."""
    return Row.of(OF_FEW, "per cent", [-(-100 * many.median // few.median), -(-100 * many.max // few.max)])


def peer_of(name: str) -> str:
    """Who is the best peer in a figure, and what it takes; empty: none is known."""
    known = GROWTH if name == OF_FEW else KNOWN.get(name, Known())
    return "" if known.peer is None else f"{known.whose}: {known.peer:,}"


def unlike(sandbox: Rows, alone: Rows) -> Row:
    """How many figures are not the bare emulator's, to the instruction."""
    return Row.of(UNLIKE, "figures", [sum(sandbox[name] != alone[name] for name in sandbox)])


def named_unlike(sandbox: Rows, alone: Rows) -> dict[str, str]:
    """Which these are: a fact, as far as there are any."""
    found = [f"{name} {samples(row)}, there {samples(alone[name])}" for name, row in sandbox.items() if row != alone[name]]
    return {UNLIKE: "; ".join(found)} if found else {}


def samples(row: Row) -> str:
    """With the median, as ends may be the same where it is not."""
    return spread(row, row.unit) + (f" (median {row.median:,})" if row.min != row.max else "")


def figure_rows(sandbox: Rows, alone: Rows, traced: Rows, is_judged: bool) -> list[Row]:
    rows = [judged(row, KNOWN.get(name, Known()), is_judged) for name, row in sandbox.items()]
    rows.append(judged(growth(sandbox[FEW], sandbox[MANY]), GROWTH, is_judged))
    rows.append(replace(traced[TRACED_ROW], name=f"{TRACED_ROW}, tracing on", reference=sandbox[TRACED_ROW].median))
    return [*rows, unlike(sandbox, alone).at_most(0) if is_judged else unlike(sandbox, alone)]


def size_rows(linked: Linked, is_judged: bool) -> list[Row]:
    whole = Row.of("kernel, text and constants", "bytes", [linked.bytes_without(PROGRAMS)])
    part = Row.of("of these threads, VCPUs and time", "bytes", [linked.bytes_of(SCHEDULER)])
    return [whole.at_most(KERNEL_BYTES) if is_judged else whole, part]


def run(platform: Platform, report: Report) -> Result:
    with probe_of(platform, report, COMMAND, heard) as bench:
        has_targets = is_judged(platform)
        sandbox, alone = bench.sandbox("sandbox"), bench.alone()
        rows = figure_rows(sandbox, alone, bench.sandbox("tracing on", Guest(TRACED)), has_targets)
        rows += size_rows(read_map((platform.build / KERNEL).with_suffix(".map")), has_targets)
        return Result("sched", platform.name, rows, bench.facts() | named_unlike(sandbox, alone))
