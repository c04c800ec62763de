# SPDX-License-Identifier: Apache-2.0
"""What a function that masters the bus costs its sandbox's monitor: its stream opened and closed in the IOMMU, and what that adds to a restart.

Each restart closes the streams before memory is scrubbed, and opens them for the next life. Instructions, told from the emulator's log; what an IOMMU does
takes an emulator no time.
"""

import tempfile
from pathlib import Path
from statistics import median_high

from bhtool.bench import live
from bhtool.bench.calls import Watch, calls
from bhtool.bench.restart import measured, write_partition
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import COUNTED, Stage, counting, out_of_time, set_up
from bhtool.bench.trace import chunks, logged, span
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
CALLS = {"open": 1, "close": 1, "reset": 3}  # of one restart: silenced, reset by itself, decoding again (hal/*/core.c, hal/arm/psci.c)
# Of hal/iommu: an image may have several, and its machine has one. What a program without locks, checks and several streams took for one of them.
PROTOTYPES = {"smmu": 75, "amdvi": 64, "vtd": 42}


def watch(stage: Stage) -> Watch:
    elf = stage.platform.build / MONITOR
    at = read_symbols(elf)
    resident = at["__resident_text_start"], span(read_elf(elf.read_bytes(), elf.name))[1]
    named = {f"{prefix}_{what}" for prefix in PROTOTYPES for what in ("open", "close")} | {"pci_reset"}
    wanted = {at[name]: name for name in named if name in at}
    starts = tuple(sorted({place for place in at.values() if resident[0] <= place < resident[1]}))
    return Watch(stage.plan.sandboxes[0].cores[0], resident, starts, wanted)


def part_rows(found: dict[str, list[int]]) -> list[Row]:
    """By the last word of a function's name, of one restart; none before each part has been seen often enough."""
    parts = {
        name.rpartition("_")[2]: (name.partition("_")[0], per_restart(name.rpartition("_")[2], counts)) for name, counts in found.items()
    }
    if not all(part in parts and len(parts[part][1]) >= RESTARTS // 4 for part in PARTS):
        return []
    return [Row.of(text, "instructions", parts[part][1], PROTOTYPES.get(parts[part][0])) for part, text in PARTS.items()]


def per_restart(part: str, counts: list[int]) -> list[int]:
    """What a restart that has ended took for its calls together."""
    calls_each = CALLS[part]
    return [sum(counts[n : n + calls_each]) for n in range(0, len(counts) - calls_each + 1, calls_each)]


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
    parts = call_rows(stage)
    report(f"counting on {platform.name}: pages mapped and unmapped")
    pages = live.rows(stage)
    added = Row.of("what a card adds to a restart", "instructions", [with_card - without])
    return Result("dma", platform.name, [*parts, *pages, added], {"a restart of": f"{MIB} MiB, the median of {RESTARTS}"})
