# SPDX-License-Identifier: Apache-2.0
"""A whole campaign: machine after machine until every attempt was made, and the judgement of each."""

import hashlib
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bhtool.attack.evidence import Pages, changed
from bhtool.attack.kind import BY_PROCESSORS, Kind
from bhtool.attack.machine_run import MachineRun, run_machine
from bhtool.attack.request import Outcome, Request
from bhtool.attack.stage import Cast, Orders, Stage, set_up
from bhtool.errors import BulkheadError, Status
from bhtool.image.payloads import Report
from bhtool.machine.launch import Timing
from bhtool.platforms import Platform

FIRST_LOOK = 100  # the same, if the campaign is to end with the first escape


@dataclass(frozen=True)
class Escape:
    request: Request | None  # None: nobody knows by which
    why: str
    harness: bool = False  # the campaign's own trouble, which shows of nobody that he got through

    def __str__(self) -> str:
        return f"{self.request}: {self.why}" if self.request else self.why


@dataclass
class Campaign:
    """What came of it, as far as it went."""

    platform: Platform
    seed: int
    asked: int
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    by_class: dict[str, Counter[str]] = field(default_factory=dict)
    coverage: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # attempts of class, edge and state, of network cards
    emulator_open: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # likewise: not made, as the emulator lets them through
    escapes: list[Escape] = field(default_factory=list)
    heartbeats: int = 0
    heartbeats_lost: int = 0
    words_changed: int = 0  # of sentinels' memory
    pages_changed: int = 0  # of nobody's and monitors'
    traffic: Counter[str] = field(default_factory=Counter)  # of sentinels' channels, by the names of struct Traffic
    machines: int = 0
    stuck: list[Request] = field(default_factory=list)  # by which a sandbox brought itself, and nobody else, to a stop

    @property
    def attempts(self) -> int:
        return len(self.outcomes)

    @property
    def good(self) -> bool:
        return not self.escapes and not self.heartbeats_lost and self.attempts == self.asked > 0

    def digest(self) -> str:
        """The same for two campaigns in which the same became of every attempt."""
        return hashlib.sha256(bytes(self.outcomes[n] for n in sorted(self.outcomes))).hexdigest()[:16]

    def as_dict(self) -> dict[str, Any]:
        return {
            "platform": self.platform.name,
            "seed": self.seed,
            "attempts": self.attempts,
            "contained": self.attempts - self.escaped(),
            "escapes": [str(one) for one in self.escapes],
            "heartbeats": self.heartbeats,
            "heartbeats_lost": self.heartbeats_lost,
            "words_changed": self.words_changed,
            "pages_changed": self.pages_changed,
            "channels": dict(self.traffic),
            "machines": self.machines,
            "stuck": [str(one) for one in self.stuck],
            "digest": self.digest(),
            **({"coverage": self._coverage(), "emulator_open": dict(self.emulator_open_by_class)} if self.coverage else {}),
            "classes": {name: dict(counter) for name, counter in sorted(self.by_class.items())},
        }

    def _coverage(self) -> list[dict[str, Any]]:
        keys = ("class", "edge", "state", "attempts")
        return [dict(zip(keys, (*cell, count), strict=True)) for cell, count in sorted(self.coverage.items())]

    @property
    def emulator_open_by_class(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for (group, _, _), count in self.emulator_open.items():
            found[group] += count
        return found

    def escaped(self, group: str = "") -> int:
        """Attempts, of a class or of all, that are known to have got through; one may have been seen at several places."""
        found = {one.request.number: one.request.group for one in self.escapes if one.request}
        return sum(group in ("", one) for one in found.values())

    def judge(self, request: Request, outcome: Outcome) -> None:
        self.outcomes[request.number] = outcome
        self.by_class.setdefault(request.group, Counter())[outcome.name.lower()] += 1
        if request.state:
            self.coverage[request.group, request.edge, request.state] += 1
        if outcome not in request.attempt.contained:
            expected = " or ".join(one.name.lower() for one in Outcome if one in request.attempt.contained)
            self.escapes.append(Escape(request, f"{outcome.name.lower()}, where {expected} was expected"))

    def note(self, run: MachineRun) -> None:
        self.machines += 1
        self.heartbeats += sum(one.beats for one in run.sentinels.values())
        self.heartbeats_lost += sum(one.lost for one in run.sentinels.values())
        self.words_changed += sum(one.changed for one in run.sentinels.values())
        for one in run.sentinels.values():
            self.traffic.update(asdict(one.traffic))


Progress = Callable[[Campaign, int], None]


class Runner:
    """Carries out one campaign; `result` grows."""

    def __init__(
        self,
        platform: Platform,
        timing: Timing,
        result: Campaign,
        report: Report,
        progress: Progress,
        unprotected: tuple[str, ...],
        until_escape: bool,
        kind: Kind,
    ) -> None:
        self._platform, self._timing, self._report, self._progress = platform, timing, report, progress
        self._unprotected = unprotected
        self._kind, self._casts = kind, kind.casts(platform)
        self._until_escape = until_escape
        self._rest: Pages = {}
        self._before = 0  # attempts of this batch that earlier machines made
        self.result = result

    def run(self, folder: Path, only: int | None, group: str | None) -> None:
        calm = {cores: self._calm(folder, cast) for cores, cast in self._casts.items()}
        all_surroundings = {cores: stage.all_surroundings() for cores, stage in calm.items()}
        everything = self._kind.requests(all_surroundings, self.result.seed, self.result.asked if only is None else only + 1)
        wanted = [one for one in everything if only in (None, one.number) and group in (None, one.group)]
        if not wanted:
            sought = (
                f"the first {len(everything)} attempts" if only is None else f"attempt {only}, which is of class {everything[-1].group},"
            )
            raise BulkheadError(f"there is none of class {group} among {sought}: ask for others", Status.USAGE)
        self.result.emulator_open = Counter((one.group, one.edge, one.state) for one in wanted if one.left_out)
        wanted = [one for one in wanted if not one.left_out]
        self.result.asked = len(wanted)
        for key, cast in self._casts.items():
            mine = [one for one in wanted if one.cast == key]
            if mine:
                self._rest = run_machine(calm[key], self.result.seed, self._timing, lambda begun: None).pages
                self._carry_out(folder, cast, mine)

    def _calm(self, folder: Path, cast: Cast) -> Stage:
        orders = [Orders(room=cast.batch)] * len(cast.hostiles)
        return set_up(self._platform, folder, cast, orders, self.result.seed, self._report, self._unprotected)

    def _carry_out(self, folder: Path, cast: Cast, wanted: list[Request]) -> None:
        queues = [[one for one in wanted if one.place == place] for place in range(len(cast.hostiles))]
        size = min(FIRST_LOOK, cast.batch) if self._until_escape else cast.batch
        for start in range(0, max(map(len, queues)), size):
            self._batch(folder, cast, [queue[start : start + size] for queue in queues])

    def _batch(self, folder: Path, cast: Cast, queues: list[list[Request]]) -> None:
        first = [0] * len(queues)
        while any(at < len(queue) for at, queue in zip(first, queues, strict=True)):
            if self._until_escape and self.result.escapes:
                return
            identity = self.result.machines + 1
            words = [self._word(identity, place) if cast.has_cards else 0 for place in range(len(queues))]
            orders = [Orders(queue, at, word, cast.batch) for at, queue, word in zip(first, queues, words, strict=True)]
            self._before = sum(first)
            stage = set_up(self._platform, folder, cast, orders, identity, lambda _: None, self._unprotected)
            run = run_machine(stage, identity, self._timing, self._advance)
            first = self._take(run, queues, first)

    def _word(self, identity: int, place: int) -> int:
        """Of frames: none that memory holds by itself."""
        return random.Random(f"{self.result.seed}:{identity}:{place}").getrandbits(64)

    def _advance(self, begun: int) -> None:
        self._progress(self.result, begun - self._before)

    def _take(self, run: MachineRun, queues: list[list[Request]], first: list[int]) -> list[int]:
        """Judges what was tried; where each queue goes on."""
        self.result.note(run)
        last: list[Request] = []
        reached = list(first)
        for place, (name, queue) in enumerate(zip(run.cast.hostiles, queues, strict=True)):
            notes = run.hostiles[name].notes
            if notes is None:
                continue
            reached[place] = min(notes.begun, len(queue))
            for n in range(first[place], reached[place]):
                self.result.judge(queue[n], notes.outcome(n))
            last += queue[reached[place] - 1 : reached[place]]
            if reached[place] < len(queue) and not run.end:
                self.result.stuck.append(queue[reached[place] - 1])
        self._judge_astray(run, queues)
        harm = run.harm
        if run.pages and (touched := changed(self._rest, run.pages)):
            self.result.pages_changed += len(touched)
            harm.append(f"{len(touched)} pages that are nobody's or a monitor's have changed, the first at {touched[0]:#x}")
        tried = "; ".join(str(one) for one in last)
        self.result.escapes += [Escape(None, f"{text}; tried last: {tried}") for text in harm]
        if reached == first:
            self.result.escapes.append(Escape(None, "nobody attacked: the hostile sandboxes did not get that far", harness=True))
            return [len(queue) for queue in queues]
        return reached

    def _judge_astray(self, run: MachineRun, queues: list[list[Request]]) -> None:
        by_name = dict(zip(run.cast.hostiles, queues, strict=True))
        for one in run.astray:
            queue = by_name[one.sandbox]
            request = queue[one.attempt] if one.attempt < len(queue) else None
            self.result.escapes.append(Escape(request, f"a frame of {one.sandbox} lies at {one.address:#x}, {one.whose}"))


def run_campaign(
    platform: Platform,
    timing: Timing,
    seed: int,
    attempts: int,
    report: Report,
    progress: Progress,
    *,
    only: int | None = None,
    unprotected: tuple[str, ...] = (),
    until_escape: bool = False,
    group: str | None = None,
    kind: Kind = BY_PROCESSORS,
) -> Campaign:
    """All attempts of the seed, `only` one, or one class's; with `until_escape` no machine is started after something got through."""
    result = Campaign(platform, seed, attempts)
    with tempfile.TemporaryDirectory(prefix="bulkhead-attack-") as folder:
        Runner(platform, timing, result, report, progress, unprotected, until_escape, kind).run(Path(folder), only, group)
    return result
