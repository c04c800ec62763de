# SPDX-License-Identifier: Apache-2.0
"""Many faults, each on a machine of its own that is compared with one without a fault, stopped at the same moments."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from bhtool.errors import BulkheadError
from bhtool.faults.fault import Fault, Moment, Region, draw
from bhtool.faults.regions import read_regions
from bhtool.faults.stage import Stage, set_up
from bhtool.faults.trial import try_fault
from bhtool.faults.verdict import Observation, Outcome, Verdict, judge
from bhtool.image.build import MONITOR, PROBE
from bhtool.image.payloads import Report
from bhtool.platforms import Platform
from bhtool.symbols import read_symbols

DISTURBING = (Outcome.PROPAGATED, Outcome.MACHINE)
Z = 1.959963984540054  # 95 %


@dataclass(frozen=True)
class Found:
    """What became of one fault."""

    fault: Fault
    verdict: Verdict
    stays: bool  # the bit is still as the fault left it
    named: str  # by the oracle: its first difference; empty: none, or it was not asked
    out_voted: tuple[Verdict, ...] = ()  # of a fault that was tried three times, the other two
    hearts: Mapping[str, Any] = field(default_factory=dict)  # of each sandbox, and of the machine without the fault
    holds: int = 0  # of the victim's core, as it let the machine's clock stand

    @property
    def is_out_voted(self) -> bool:
        """It seemed once to have disturbed others."""
        return self.verdict.outcome not in DISTURBING and any(one.outcome in DISTURBING for one in self.out_voted)

    def as_dict(self) -> dict[str, Any]:
        fault, verdict = self.fault, self.verdict
        return {
            "number": fault.number,
            "region": fault.region.name,
            "where": fault.what,
            "bit": fault.bit,
            "when": str(fault.moment),
            "outcome": verdict.outcome.value,
            "why": verdict.why,
            "monitor_failed": verdict.monitor_failed,
            "stays": self.stays,
            "oracle": self.named,
            "out_voted": [{"outcome": one.outcome.value, "why": one.why} for one in self.out_voted],
            "hearts": self.hearts,
            "holds": self.holds,
        }


def hearts(seen: Observation, calm: Observation) -> dict[str, Any]:
    """Of both machines: how long each lived, and of each sandbox its beats, those that came a whole period late, the latest, and its passes."""

    def told(one: Observation) -> dict[str, Any]:
        rows = {
            name: {"beats": it.beats, "gaps": it.gaps, "late_us": it.late_us, "passes": it.passes, "unanswered": it.unanswered}
            for name, it in one.seen.items()
        }
        return {"lived_us": round(one.seconds * 1e6), **rows}

    return {"with": told(seen), "without": told(calm)}


@dataclass
class Series:
    platform: Platform
    seed: int
    regions: Sequence[Region] = ()
    found: list[Found] = field(default_factory=list)
    machines: int = 0

    @property
    def by_region(self) -> dict[str, Counter[Outcome]]:
        counts: dict[str, Counter[Outcome]] = {one.name: Counter() for one in self.regions}
        for one in self.found:
            counts[one.fault.region.name][one.verdict.outcome] += 1
        return {name: counter for name, counter in counts.items() if counter}

    @property
    def totals(self) -> Counter[Outcome]:
        return Counter(one.verdict.outcome for one in self.found)

    def disturbing(self) -> list[Found]:
        """The faults that disturbed others."""
        return [one for one in self.found if one.verdict.outcome in DISTURBING]

    def out_voted(self) -> list[Found]:
        """Those that seemed to, when they were tried first or once more."""
        return [one for one in self.found if one.is_out_voted]

    def good(self) -> bool:
        """No fault of memory that is the victim's own to write, or of its registers, disturbed anybody."""
        return not any(one.fault.region.is_guests for one in self.disturbing())

    def rows(self) -> list[dict[str, Any]]:
        """For each region and for all: counts, and the share of each outcome with its Wilson interval."""
        whole = {**self.by_region, "all": self.totals}
        return [
            _row(name, counter, [one for one in self.found if name in ("all", one.fault.region.name)]) for name, counter in whole.items()
        ]

    def as_dict(self) -> dict[str, Any]:
        return {
            "platform": self.platform.name,
            "seed": self.seed,
            "faults": len(self.found),
            "machines": self.machines,
            "regions": self.rows(),
            "out_voted": [one.as_dict() for one in self.out_voted()],
            "disturbing": [one.as_dict() for one in self.disturbing()],
            "found": [one.as_dict() for one in self.found],
        }


def _row(name: str, counter: Counter[Outcome], found: Sequence[Found]) -> dict[str, Any]:
    total = counter.total()
    return {
        "region": name,
        "faults": total,
        **{one.value: counter[one] for one in Outcome},
        "monitor_failed": sum(one.verdict.monitor_failed for one in found),
        "silent_and_stays": sum(one.stays for one in found if one.verdict.outcome == Outcome.SILENT),
        "oracle_names": sum(bool(one.named) for one in found),
        "shares": {one.value: [round(counter[one] / total, 4), *wilson(counter[one], total)] for one in Outcome},
    }


def wilson(count: int, total: int) -> tuple[float, float]:
    """The score interval of a share, 95 %: E. B. Wilson, "Probable inference, the law of succession, and statistical inference" (1927)."""
    if not total:
        return 0.0, 1.0
    share, square = count / total, Z * Z / total
    centre, half = share + square / 2, Z * math.sqrt(share * (1 - share) / total + square / total / 4)
    return round(max(0.0, (centre - half) / (1 + square)), 4), round(min(1.0, (centre + half) / (1 + square)), 4)


class Runner:
    """One platform's machines. Threads share it: each machine is a process of its own."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.symbols = {**read_symbols(stage.platform.build / MONITOR), **read_symbols(stage.platform.build / PROBE)}
        self._lock = Lock()  # of what follows
        self._calm: dict[Moment, Future[Observation]] = {}
        self.machines = 0
        first = try_fault(stage, self.symbols, Moment(stage.first_kicks, 1000), None, keep=True)
        assert first.snapshot
        self.regions = read_regions(stage, first.snapshot, self.symbols, has_registers=stage.platform.emulator.kind == "qemu")
        if first.observation.findings:
            raise BulkheadError(f"the oracle finds fault with a machine that nothing was done to: {first.observation.findings[0]}")

    def calm(self, moment: Moment) -> Observation:
        """Without a fault; each moment's machine runs once."""
        with self._lock:
            is_mine = moment not in self._calm
            future = self._calm.setdefault(moment, Future())
        if is_mine:
            try:
                future.set_result(self._try(moment, None))
            except BaseException as error:
                future.set_exception(error)
        return future.result()

    def _try(self, moment: Moment, fault: Fault | None) -> Observation:
        with self._lock:
            self.machines += 1
        return try_fault(self.stage, self.symbols, moment, fault).observation

    def run(self, fault: Fault) -> Found:
        """What seems to have disturbed others is tried twice more, and the second gravest of the three counts."""
        calm = self.calm(fault.moment)
        seen = self._try(fault.moment, fault)
        verdicts = [judge(seen, calm)]
        if verdicts[0].outcome in DISTURBING:
            verdicts += [judge(self._try(fault.moment, fault), calm) for _ in range(2)]
        ranked = sorted(verdicts, key=lambda one: list(Outcome).index(one.outcome))
        verdict = ranked.pop(len(ranked) // 2)
        return Found(fault, verdict, seen.stays, next(iter(seen.findings), ""), tuple(ranked), hearts(seen, calm), seen.holds)


Progress = Callable[[Series, int], None]


def run_series(platform: Platform, seed: int, numbers: Iterable[int], jobs: int, report: Report, progress: Progress) -> Series:
    """The faults of these numbers, in their order."""
    result = Series(platform, seed)
    with tempfile.TemporaryDirectory(prefix="bulkhead-faults-") as folder:
        runner = Runner(set_up(platform, Path(folder), report))
        result.regions = runner.regions
        faults = [draw(seed, number, runner.regions, runner.stage.first_kicks) for number in numbers]
        with ThreadPoolExecutor(jobs) as pool:
            for one in pool.map(runner.run, faults):
                result.found.append(one)
                result.machines = runner.machines
                progress(result, len(faults))
    return result
