# SPDX-License-Identifier: Apache-2.0
"""What a function that masters the bus costs its sandbox's monitor: its stream opened and closed in the IOMMU, and what that adds to a restart.

Each restart closes the streams before memory is scrubbed, and opens them for the next life. Instructions, told from the emulator's log; what an IOMMU does
takes an emulator no time.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_high

from bhtool.bench.restart import measured, write_partition
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import COUNTED, Stage, counting, out_of_time, set_up
from bhtool.bench.trace import LINE, Span, chunks, logged, span
from bhtool.config.native import read_elf
from bhtool.errors import BulkheadError
from bhtool.image.build import MONITOR
from bhtool.image.payloads import Report
from bhtool.platforms import Platform
from bhtool.symbols import read_symbols

CARD = "nic0"
MIB, RESTARTS = 4, 20
LIMIT = 300.0
PARTS = {"open": "a stream opened", "close": "a stream closed", "reset": "its function silenced, and given its registers again"}
# Of hal/iommu: an image may have several, and its machine has one. What a program without locks, checks and several streams took for one of them.
PROTOTYPES = {"smmu": 75, "amdvi": 64, "vtd": 42}


@dataclass
class Call:
    """A function under way, until an instruction of whoever called it."""

    name: str
    caller: Span
    executed: int = 0


@dataclass(frozen=True)
class Watch:
    """Where each function of the resident monitor begins, and those that are counted."""

    core: int
    resident: Span
    starts: tuple[int, ...]
    wanted: dict[int, str]

    def function(self, pc: int) -> Span:
        """From its first byte to the next one's."""
        before = max((start for start in self.starts if start <= pc), default=self.resident[0])
        return before, min((start for start in self.starts if start > pc), default=self.resident[1])


def watch(stage: Stage) -> Watch:
    elf = stage.platform.build / MONITOR
    at = read_symbols(elf)
    resident = at["__resident_text_start"], span(read_elf(elf.read_bytes(), elf.name))[1]
    named = {f"{prefix}_{what}" for prefix in PROTOTYPES for what in ("open", "close")} | {"pci_reset"}
    wanted = {at[name]: name for name in named if name in at}
    starts = tuple(sorted({place for place in at.values() if resident[0] <= place < resident[1]}))
    return Watch(stage.plan.sandboxes[0].cores[0], resident, starts, wanted)


@dataclass
class Calls:
    """The calls that a log shows, and what each executed, those that it made included."""

    watch: Watch
    last: int = 0
    under_way: Call | None = None
    ended: list[tuple[str, int]] = field(default_factory=list)

    def see(self, pc: int) -> None:
        call = self.under_way
        if call and call.caller[0] <= pc < call.caller[1]:
            self.ended.append((call.name, call.executed))
            self.under_way = call = None
        if call:
            call.executed += 1
        elif pc in self.watch.wanted:
            self.under_way = Call(self.watch.wanted[pc], self.watch.function(self.last), 1)
        self.last = pc

    def unsee(self) -> None:
        """The last one was not executed after all."""
        if self.under_way:
            self.under_way.executed -= 1


def calls(log: Iterable[bytes], watch: Watch) -> Iterator[tuple[str, int]]:
    seen, own = Calls(watch), False
    for lines in log:
        for core, address, stopped in LINE.findall(lines):
            if stopped:
                seen.unsee() if own else None
                continue
            own = int(core) == watch.core
            if own:
                seen.see(int(address, 16))
        yield from seen.ended
        seen.ended.clear()


def part_rows(found: dict[str, list[int]]) -> list[Row]:
    """By the last word of a function's name; none before each part has been seen often enough."""
    parts = {name.rpartition("_")[2]: (name.partition("_")[0], counts) for name, counts in found.items()}
    if not all(part in parts and len(parts[part][1]) >= RESTARTS // 4 for part in PARTS):
        return []
    return [Row.of(text, "instructions", parts[part][1], PROTOTYPES.get(parts[part][0])) for part, text in PARTS.items()]


def call_rows(stage: Stage) -> list[Row]:
    found: dict[str, list[int]] = {}
    at = watch(stage)
    with logged(stage, COUNTED, at.resident) as (_, pipe):
        for name, executed in calls(chunks(pipe, LIMIT), at):
            found.setdefault(name, []).append(executed)
            if rows := part_rows(found):
                return rows
    raise out_of_time("counting what a restart does to the IOMMU", LIMIT)


def restarts(platform: Platform, device: str, report: Report) -> tuple[Stage, int]:
    with tempfile.TemporaryDirectory() as folder:
        stage = set_up(counting(platform), write_partition(Path(folder), MIB, RESTARTS, device), report)
    return stage, median_high(measured(stage, RESTARTS))


def run(platform: Platform, report: Report) -> Result:
    report(f"counting on {platform.name}: restarts with a network card and without")
    _, without = restarts(platform, "", report)
    stage, with_card = restarts(platform, CARD, report)
    if with_card <= without:
        raise BulkheadError(f"a restart with {CARD} takes no longer than one without: its stream is not closed")
    report(f"counting on {platform.name}: streams opened and closed")
    added = Row.of("what a card adds to a restart", "instructions", [with_card - without])
    return Result("dma", platform.name, [*call_rows(stage), added], {"a restart of": f"{MIB} MiB, the median of {RESTARTS}"})
