# SPDX-License-Identifier: Apache-2.0
"""What a message costs a program in Linux: through a channel, by read and write or in place, against a socket pair between two programs of the same Linux.

messages.c measures all ways in one boot; the channels' other ends are native sandboxes that send everything back (tests/guests/probe/echo.c). Instructions are
counted on all platforms, as what two ways take in the host's time differs from one run to the next by more than the ways do. Linux' clock counts them, of all
cores together.
"""

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

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
RUNS = 5  # of the program, in one boot
LIMIT = 300.0  # of the host, for one of them
# Until the kernel's generator is seeded, each system call takes some 10,000 instructions more: docs/benchmarks.md.
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


def rows_of(found: Found, ns_per_instruction: int) -> list[Row]:
    rows: list[Row] = []
    for (what, way, size), samples in found.items():
        name = title(what, way, size)
        rows.append(Row.of(name, "instructions", [round(ns / ns_per_instruction) for ns in samples]))
        if way != SOCKET:
            shares = [round(100 * ns / socket) for ns, socket in zip(samples, found[what, SOCKET, size], strict=True)]
            rows.append(Row.of(f"{name}, of the socket pair's", "per cent", shares).at_most(100))
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
    programs = {"messages": compiled_program(platform, [PROGRAM, *LIBRARY], INCLUDED, report)}
    payloads.initramfs(platform, report)  # fetches its busybox
    busybox = payloads.cached("busybox-static", platform.programs_architecture, "./bin/busybox", "", report)
    (folder / "messages.cpio.gz").write_bytes(payloads.initramfs_bytes(busybox.read_bytes(), packed(programs)))
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "messages.dts"
    file.write_text(template.render(mib=LINUX_MIB, bootargs=BOOTARGS, rings_hz=RINGS_HZ), encoding="utf-8")
    return file


def run(platform: Platform, report: Report, runs: int = RUNS) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        stage = set_up(platform, prepare(platform, Path(folder), report), report)
    timing = timing_for(platform, stage.plan, exact=True)
    assert timing.icount_shift is not None, "QEMU counts"
    report(f"measuring on {platform.name}: messages")
    with sandboxed(stage, Conditions(timing, Wiring(), (), report)) as shell:
        shell.ask(SEEDED, LIMIT)
        bench = Bench(shell, IDENTIFIES.get(platform.backend, ()))
        bench.run("cost", COST)
        bench.found.clear()  # what comes but once
        exits = sum(bench.run("cost", COST) for _ in range(runs))
        trip_exits = sum(bench.run("trips", TRIPS) for _ in range(runs))
    rows = rows_of(bench.found, 1 << timing.icount_shift)
    rows.append(Row.of(EXITS, "exits", [exits]).at_most(0))
    rows.append(Row.of(TRIP_EXITS, "exits", [round(100 * trip_exits / (runs * ROUND_TRIPS))]))
    facts = {"samples": f"{runs} runs of the program in one boot, of each the mean of the middle half of its rounds"}
    return Result("messages", platform.name, rows, facts)
