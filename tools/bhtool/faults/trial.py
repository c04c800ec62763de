# SPDX-License-Identifier: Apache-2.0
"""One machine: to the moment, the fault, and on until those who keep watch have checked all their memory twice; then what it looks like."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bhtool.attack.evidence import pages
from bhtool.attack.machine_run import Sentinel
from bhtool.attack.stage import SENTINELS
from bhtool.faults.fault import Fault, Moment
from bhtool.faults.run import Run, run_on
from bhtool.faults.stage import Stage
from bhtool.faults.verdict import Observation, Seen
from bhtool.machine.memory import Memory
from bhtool.oracle.capture import iommu_registers, look_of
from bhtool.oracle.judge import judge
from bhtool.oracle.snapshot import Snapshot

NO_ANSWER = "watch: no answer"
KICKS_UNDER_WAY = (
    8  # at most, of the moment at which a machine that nothing was done to ends: what the oracle finds then is a root that they poison
)


@dataclass(frozen=True)
class Trial:
    observation: Observation
    snapshot: Snapshot | None = None  # if it was asked for


def try_fault(stage: Stage, symbols: Mapping[str, int], moment: Moment, fault: Fault | None, keep: bool = False) -> Trial:
    """None: a machine without a fault, which comes to the same moment. `keep`: with a snapshot of the end."""
    image = stage.image_for(moment)
    with tempfile.TemporaryDirectory(prefix="bulkhead-fault-") as folder, run_on(stage, Path(folder), symbols, image) as run:
        run.to_moment(moment)
        word = run.inject(fault) if fault else 0
        run.to_end()
        snapshot = take(stage, run) if not run.ended and (keep or (fault and fault.region.is_judged)) else None
        seen = _look(stage, run, fault, word, snapshot)
        for _ in range(0 if fault else KICKS_UNDER_WAY):
            if not seen.findings:
                break
            run.settle()
            snapshot = take(stage, run)
            seen = _look(stage, run, fault, word, snapshot)
        return Trial(seen, snapshot if keep else None)


def _look(stage: Stage, run: Run, fault: Fault | None, word: int, snapshot: Snapshot | None) -> Observation:
    memory = Memory(stage.platform, run.ram)
    stays = bool(fault and fault.address and int.from_bytes(memory.read(fault.address, 8), "little") == word)
    seen = {one.name: look_at(memory, one.pool_hpa) for one in stage.plan.sandboxes}
    watched = next(one for one in stage.plan.sandboxes if one.name in SENTINELS)
    found = pages(stage.platform, stage.plan, run.ram, memory.clock_hz(watched.pool_hpa))
    findings = judge(snapshot, stage.partitioning, look_of(stage.platform).read).findings if snapshot else []
    return Observation(seen, run.ended, run.stood, found, stays, run.in_monitor, tuple(map(str, findings)), run.holds, run.seconds)


def take(stage: Stage, run: Run) -> Snapshot:
    """Of the machine as it stands; RAM stays mapped."""
    cores = sorted({core for one in stage.plan.sandboxes for core in one.cores})
    registers = {core: run.read(core, look_of(stage.platform).registers) for core in cores}
    ram = memoryview(mmap.mmap(run.ram, stage.platform.ram_size, prot=mmap.PROT_READ))
    return Snapshot(stage.platform.ram_base, ram, registers, iommu_registers(stage.plan, run.peek))


def look_at(memory: Memory, pool: int) -> Seen:
    stats, crash, heart = memory.stats(pool), memory.crash(pool), memory.heartbeat(pool)
    text, _, _ = memory.log_since(pool, 0)
    lines = text.decode("utf-8", "replace").splitlines()
    sentinel = Sentinel()
    for line in lines:
        sentinel.note(line)
    complaints = tuple(one for one in sentinel.complaints if "words of its memory changed" not in one)
    return Seen(
        state=stats.state if stats else "cold",
        beats=heart.beats if heart else 0,
        gaps=heart.gaps if heart else 0,
        late_us=heart.late_max_ns // 1000 if heart else 0,
        restarts=stats.restarts if stats else 0,
        crash=crash.reason if crash else "",
        passes=sentinel.passes,
        changed=sentinel.changed,
        unanswered=sum(NO_ANSWER in line for line in lines),
        complaints=complaints,
        exits=stats.exits if stats else {},
    )
