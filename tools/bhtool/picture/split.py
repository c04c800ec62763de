# SPDX-License-Identifier: Apache-2.0
"""What a picture of a split machine shows, worked out from the plan: no shapes, no sizes on paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bhtool import abi
from bhtool.config.explain import MONITOR
from bhtool.config.plan import Holding, Plan, ReachKind
from bhtool.text import counted, size_text

NOBODY = ""
SNAPSHOT = "boot snapshot of "
MEANING: dict[ReachKind, str] = {"kick": "may kick", "log": "reads the log of", "notice": "tells of its own end", "channel": "sends to"}


@dataclass(frozen=True)
class Card:
    """A sandbox, in a few words."""

    name: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Core:
    number: int
    owner: str
    boots: bool  # its sandbox begins there


@dataclass(frozen=True)
class Stretch:
    """Of RAM, with all that lies side by side in it and has one owner."""

    start: int
    size: int
    owner: str
    label: str


@dataclass(frozen=True)
class Gear:
    """A device, or a controller that monitors filter."""

    name: str
    owner: str
    where: str


@dataclass(frozen=True)
class Reach:
    """From one sandbox to another, by index."""

    source: int
    target: int
    kind: ReachKind


@dataclass(frozen=True)
class Split:
    title: str
    subtitle: str
    cards: tuple[Card, ...]
    cores: tuple[Core, ...]
    memory: tuple[Stretch, ...]
    devices: tuple[Gear, ...]
    reaches: tuple[Reach, ...]


def split_of(plan: Plan) -> Split:
    """The plan is valid."""
    count = abi.view("bh_table", plan.table).core_count
    ram = sum(size for _, size in plan.ram)
    return Split(
        title=plan.file.name,
        subtitle=f"on {plan.platform}: {counted(count, 'core')}, {size_text(ram)} of RAM, {counted(len(plan.sandboxes), 'sandbox', 'sandboxes')}",
        cards=tuple(_cards(plan)),
        cores=tuple(_cores(plan, count)),
        memory=tuple(_memory(plan)),
        devices=tuple(_devices(plan)),
        reaches=tuple(_reaches(plan)),
    )


def _cards(plan: Plan) -> Iterator[Card]:
    for one in plan.sandboxes:
        lines = [one.image, size_text(one.ram_size), "console: " + one.console]
        if one.restarts:
            lines.append(f"restarts: {one.max_restarts:,}")
        if one.heartbeat_timeout_us:
            lines.append(f"heartbeat within {one.heartbeat_timeout_us:,} us")
        if one.unprotected:
            lines.append("without " + ", ".join(one.unprotected))
        yield Card(one.name, tuple(lines))


def _cores(plan: Plan, count: int) -> Iterator[Core]:
    owners = {core: one for one in plan.sandboxes for core in one.cores}
    for number in range(count):
        owner = owners.get(number)
        yield Core(number, owner.name if owner else NOBODY, bool(owner) and owner is not None and owner.cores[0] == number)


def _in_ram(plan: Plan, held: Holding) -> bool:
    return held.kind == "memory" and any(0 <= held.start - start < size for start, size in plan.ram)


def _memory(plan: Plan) -> Iterator[Stretch]:
    """All RAM from bottom to top: what has an owner, and between that what nobody has."""
    for start, size in sorted(plan.ram):
        at = start
        held = sorted((one for one in plan.holdings if _in_ram(plan, one) and start <= one.start < start + size), key=lambda one: one.start)
        for one in _merged(held):
            if one.start > at:
                yield Stretch(at, one.start - at, NOBODY, "unused")
            yield one
            at = one.start + one.size
        if at < start + size:
            yield Stretch(at, start + size - at, NOBODY, "unused")


def _merged(held: list[Holding]) -> Iterator[Stretch]:
    """What only monitors have is one stretch where it lies side by side."""
    run: list[Holding] = []
    for one in held:
        if run and not (one.owner == run[-1].owner == MONITOR and one.start == run[-1].start + run[-1].size):
            yield _joined(run)
            run = []
        run.append(one)
    if run:
        yield _joined(run)


def _joined(run: list[Holding]) -> Stretch:
    first = run[0]
    size = sum(one.size for one in run)
    if first.owner != MONITOR:
        return Stretch(first.start, size, first.owner, first.owner)
    whats = [one.what for one in run]
    kept = [what.removeprefix(SNAPSHOT).strip("`") for what in whats if what.startswith(SNAPSHOT)]
    if any(what.startswith("monitor of") for what in whats):
        label = "monitors"
    else:
        label = f"{', '.join(kept)}: boot snapshot{'s' * (len(kept) > 1)}" if kept else first.what  # a small box shows its beginning
    return Stretch(first.start, size, MONITOR, label)


def _devices(plan: Plan) -> Iterator[Gear]:
    """By owner, in the order of the file; then what nobody has, then what monitors filter."""
    order = {one.name: n for n, one in enumerate(plan.sandboxes)} | {NOBODY: len(plan.sandboxes), MONITOR: len(plan.sandboxes) + 1}
    found: dict[tuple[str, str], Gear] = {}
    for one in sorted(plan.holdings, key=lambda one: (order[one.owner], one.kind, one.start)):
        name = one.what.removeprefix("interrupt controller ")
        if not _in_ram(plan, one) and (one.owner, name) not in found:
            found[one.owner, name] = Gear(name, one.owner, f"{'port ' if one.kind == 'port' else ''}{one.start:#x}")
    yield from found.values()


def _reaches(plan: Plan) -> Iterator[Reach]:
    for one in plan.sandboxes:
        yield from (Reach(one.index, other, kind) for other, kind in one.reaches)
