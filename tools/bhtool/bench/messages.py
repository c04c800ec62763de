# SPDX-License-Identifier: Apache-2.0
"""What a message costs a program in Linux: through a channel, by read and write or in place, against a socket pair between two programs of the same Linux.

messages.c measures all ways in one boot; the channels' other ends are native sandboxes that send everything back (tests/guests/probe/echo.c). The host's time
repeats nowhere, but what it says of two ways in one run may be divided: so there are shares of what the socket pair takes. Where instructions are counted,
Linux' clock counts them, all cores' together, and the figures themselves are given, too.
"""

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import jinja2

from bhtool.bench.exits import IDENTIFIES
from bhtool.bench.linux import Conditions, Shell, sandboxed
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import set_up
from bhtool.errors import BulkheadError
from bhtool.image import payloads
from bhtool.image.linux_programs import INCLUDED, LIBRARY, compiled_program, packed
from bhtool.image.payloads import Report
from bhtool.machine.emulated import timing_for
from bhtool.machine.wiring import Wiring
from bhtool.platforms import Platform

TEMPLATE, PROGRAM = (Path(__file__).with_name(name) for name in ("messages.dts.j2", "messages.c"))
LINUX_MIB, BOOTARGS = 128, "quiet cryptomgr.notests"
RINGS_HZ = 20_000
RUNS, RUNS_IN_HOST_TIME = 5, 9  # of the program, in one boot
LIMIT = 300.0  # of the host, for one of them
# Until the kernel's generator is seeded, each system call takes some 10,000 instructions more: it asks it where its stack is to begin.
SEEDED = "head -c 1 /dev/random > /dev/null"
SOCKET = "socket"
ANSWER = re.compile(r"messages: (send|receive|trip) (socket|device|place) (\d+) (\d+) of (\d+)$")
FAILED = re.compile(r"messages: .* failed: ")
COST, TRIPS = ("send", "receive"), ("trip",)
NAMES = {"send": "send", "receive": "receive", "trip": "there and back"}
WAYS = {"send": "write", "receive": "read", "trip": "write and read"}
SIZES = (64, 4096)
ROUND_TRIPS = 220 * 2 * len(SIZES)  # of one run, through doorbells: messages.c
EXITS, TRIP_EXITS = "exits while messages are sent and received", "exits for a hundred there and back"

Found = dict[tuple[str, str, int], list[float]]  # by what, way, size: ns of one message, a figure of each run


def heard(lines: Iterable[str], whats: Iterable[str], found: Found) -> None:
    """Adds what one run of the program has said of each. Raises BulkheadError if something is missing, or it has failed."""
    said: dict[tuple[str, str, int], float] = {}
    for line in lines:
        if FAILED.match(line):
            raise BulkheadError(f"messages cannot be measured: {line}")
        if match := ANSWER.match(line):
            what, way, size, ns, count = match.groups()
            said[what, way, int(size)] = int(ns) / int(count)
    wanted = [(what, way, size) for what in whats for size in SIZES for way in (SOCKET, "device", "place")]
    if missing := [" ".join(map(str, one)) for one in wanted if not said.get(one)]:
        raise BulkheadError(f"the program has not measured {', '.join(missing)}")
    for one in wanted:
        found.setdefault(one, []).append(said[one])


def title(what: str, way: str, size: int) -> str:
    ways = {
        SOCKET: "socket pair",
        "device": f"channel, {WAYS[what]}",
        "place": "channel, answer in place" if what == "trip" else "channel, in place",
    }
    return f"{NAMES[what]}, {size:,} bytes: {ways[way]}"


def shares(samples: list[float], sockets: list[float], by_run: bool) -> list[int]:
    """In per cent: of each run; or one, of the medians, as in the host's time two of one run may have had different hosts."""
    if by_run:
        return [round(100 * ns / socket) for ns, socket in zip(samples, sockets, strict=True)]
    return [round(100 * median(samples) / median(sockets))]


def rows_of(found: Found, ns_per_instruction: int | None) -> list[Row]:
    """`ns_per_instruction`: of the machine's clock; None: it is the host's."""
    rows: list[Row] = []
    for (what, way, size), samples in found.items():
        name = title(what, way, size)
        if ns_per_instruction is not None:
            rows.append(Row.of(name, "instructions", [round(ns / ns_per_instruction) for ns in samples]))
        if way != SOCKET:
            row = Row.of(
                f"{name}, of the socket pair's", "per cent", shares(samples, found[what, SOCKET, size], ns_per_instruction is not None)
            )
            rows.append(row if ns_per_instruction is None else row.at_most(100))
    return rows


class Bench:
    """One boot, and what is measured in it."""

    def __init__(self, shell: Shell, inevitable: Iterable[str]) -> None:
        self.shell, self.inevitable, self.found = shell, (*inevitable, "idle"), Found()

    def exits(self) -> int:
        return sum(count for reason, count in self.shell.exits().items() if reason not in self.inevitable)

    def run(self, word: str, whats: Iterable[str]) -> int:
        """Returns how many exits it took."""
        before = self.exits()
        heard(self.shell.ask(f"messages {word}", LIMIT), whats, self.found)
        return self.exits() - before


def prepare(platform: Platform, folder: Path, report: Report) -> Path:
    """The partition file; beside it Linux' root file system with the program."""
    programs = {"messages": compiled_program(platform, [PROGRAM, LIBRARY], INCLUDED, report)}
    payloads.initramfs(platform, report)  # fetches its busybox
    busybox = payloads.cached("busybox-static", platform.programs_architecture, "./bin/busybox", "", report)
    (folder / "messages.cpio.gz").write_bytes(payloads.initramfs_bytes(busybox.read_bytes(), packed(programs)))
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "messages.dts"
    file.write_text(template.render(mib=LINUX_MIB, bootargs=BOOTARGS, rings_hz=RINGS_HZ), encoding="utf-8")
    return file


def run(platform: Platform, report: Report, runs: int = 0) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        stage = set_up(platform, prepare(platform, Path(folder), report), report)
    timing = timing_for(platform, stage.plan)
    is_counted = timing.icount_shift is not None
    runs = runs or (RUNS if is_counted else RUNS_IN_HOST_TIME)
    report(f"measuring on {platform.name}: messages")
    with sandboxed(stage, Conditions(timing, Wiring(), (), report)) as shell:
        shell.ask(SEEDED, LIMIT)
        bench = Bench(shell, IDENTIFIES.get(platform.backend, ()))
        bench.run("cost", COST)
        bench.found.clear()  # what comes but once
        exits = sum(bench.run("cost", COST) for _ in range(runs))
        trip_exits = sum(bench.run("trips", TRIPS) for _ in range(runs))
    rows = rows_of(bench.found, 1 << timing.icount_shift if timing.icount_shift is not None else None)
    rows.append(Row.of(EXITS, "exits", [exits]).at_most(0))
    rows.append(Row.of(TRIP_EXITS, "exits", [round(100 * trip_exits / (runs * ROUND_TRIPS))]))
    facts = {"time": "counted instructions" if is_counted else "the host's, so shares alone are given, of medians"}
    return Result(
        "messages",
        platform.name,
        rows,
        facts | {"samples": f"{runs} runs of the program in one boot, of each the mean of the middle half of its rounds"},
    )
