# SPDX-License-Identifier: Apache-2.0
"""What it costs to map a page for functions that run, and to take it away: hal/iommu/iommu_live.h, which nothing in the image calls yet.

A monitor with a program more (tests/bench/live_boot.c) does both, again and again, once its IOMMU blocks everything. Instructions, told from the emulator's log.
"""

from dataclasses import replace

from bhtool.abi import lib
from bhtool.bench.calls import Watch, calls
from bhtool.bench.result import Row
from bhtool.bench.stage import COUNTED, Stage, out_of_time, refuse_end
from bhtool.bench.trace import chunks, logged
from bhtool.image.build import run
from bhtool.image.formats import bootable
from bhtool.platforms import Platform
from bhtool.symbols import read_symbols

PROGRAM, CALLER, BOOT_CORE = "tests/bench/live.elf", "live_measure", 0
PARTS = {"iommu_live_put": "a page mapped", "iommu_live_take": "a page unmapped and invalidated"}
# Programs without locks and checks took so many, in the order of PARTS.
PROTOTYPES = {lib.BH_IOMMU_SMMUV3: (10, 37), lib.BH_IOMMU_AMDVI: (5, 35), lib.BH_IOMMU_VTD: (4, 25)}
ENOUGH, LIMIT, END_SECONDS = 60, 300.0, 5.0


def build(platform: Platform) -> None:
    """Of a platform whose monitor is built."""
    run(["ninja", "-C", str(platform.build), PROGRAM], f"building {PROGRAM}")


def rows(stage: Stage) -> list[Row]:
    """`stage`: a machine that counts; its partition does not matter."""
    platform = stage.platform
    build(platform)
    at = read_symbols(platform.build / PROGRAM)
    resident = at["__resident_text_start"], at["__resident_text_end"]
    caller = at[CALLER], min(place for place in at.values() if place > at[CALLER])
    starts = tuple(sorted({*caller, *(place for place in at.values() if resident[0] <= place < resident[1])}))
    watch = Watch(BOOT_CORE, resident, starts, {at[name]: name for name in PARTS})
    image = bootable(platform, (platform.build / PROGRAM).read_bytes(), stage.plan)
    found: dict[str, list[int]] = {name: [] for name in PARTS}
    with logged(replace(stage, image=image), COUNTED, caller, resident) as (session, pipe):
        for name, executed in calls(chunks(pipe, LIMIT), watch):
            found[name].append(executed)
            if all(len(counts) >= ENOUGH for counts in found.values()):
                prototypes = PROTOTYPES[stage.plan.iommu]
                return [
                    Row.of(text, "instructions", found[name], known) for (name, text), known in zip(PARTS.items(), prototypes, strict=True)
                ]
        for event in session.events(END_SECONDS):
            if event is not None:
                refuse_end(session, event)
    raise out_of_time("counting pages that are mapped and unmapped", LIMIT)
