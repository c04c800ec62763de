# SPDX-License-Identifier: Apache-2.0
"""What became of a fault, by what was seen of its machine and of one without a fault, stopped at the same place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from bhtool.attack.stage import SENTINELS
from bhtool.faults.stage import KICKER, PASSES, VICTIM

# The moment is the same each time; when a machine goes on from a stop, its emulator's turns may be others by a turn.
LATE_BEATS, LATE_EXITS, EXIT_SHARE = 3, 3, 0.04
# Either machine may have been stopped just before a beat; a watcher's beats come a tenth of a period late at most, and cores take turns within half a
# period (BH-D810). Measured: 1.19.
WATCHER_BEATS = 1.6
STOP_BEATS = 3  # until all stand, after one has come to its end. Measured: 2.0
BEATS_PER_SECOND = 1000
KICK_BEATS = 105  # of its kicker, that one kick without an answer costs: a tenth of a second, monitor/boot/partition_boot.c


class Outcome(Enum):
    """In the order of gravity."""

    SILENT = "silent"  # nothing differs but the bit, if it still does
    CONTAINED = "contained"  # the victim is not as it was, or its monitor is not; nobody else noticed
    DETECTED = "detected"  # ended or restarted by its monitor with a crash record, or a kick's time limit told of it
    PROPAGATED = "propagated"  # another sandbox was disturbed
    MACHINE = "machine"  # everybody stopped


@dataclass(frozen=True)
class Seen:
    """One sandbox when the machine was stopped."""

    state: str = "cold"
    beats: int = 0
    gaps: int = 0  # beats that came a whole period late
    late_us: int = 0  # the latest of its beats
    restarts: int = 0
    crash: str = ""  # reason of the record, if there is one
    passes: int = 0
    changed: int = 0  # words of its memory, by its own count
    unanswered: int = 0  # of its kicks
    complaints: tuple[str, ...] = ()
    exits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Observation:
    seen: Mapping[str, Seen]
    ended: str = ""  # how the machine ended by itself
    stood: bool = False  # nobody who keeps watch came to the end of the passes that were awaited
    pages: Mapping[int, bytes] = field(default_factory=dict)  # digests of what nobody may have touched
    stays: bool = False  # the word is still as the fault left it
    in_monitor: bool = False  # where the victim's core was
    findings: tuple[str, ...] = ()  # of the oracle, all
    holds: int = 0  # of the victim's core, as it let the machine's clock stand
    seconds: float = 0.0  # that the machine had lived, by its emulator


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    why: str = ""
    monitor_failed: bool = False  # the victim's monitor no longer serves it


def judge(found: Observation, reference: Observation) -> Verdict:
    """The gravest that holds; `why` is of that one. The monitor's failure is told beside it, whatever the outcome."""
    failed = _monitor_failed(found, reference)
    for outcome, why in (
        (Outcome.MACHINE, _machine(found, reference)),
        (Outcome.PROPAGATED, _propagated(found, reference)),
        (Outcome.DETECTED, _detected(found, reference)),
        (Outcome.CONTAINED, _contained(found, reference)),
    ):
        if why:
            return Verdict(outcome, "; ".join(why), failed)
    return Verdict(Outcome.SILENT, "", failed)


def _machine(found: Observation, reference: Observation) -> list[str]:
    if found.ended:
        return [found.ended]
    return ["nobody who keeps watch came to an end"] if found.stood else []


def _drift(found: Observation, reference: Observation) -> float:
    """How many more beats the machine has lived. Its emulator tells, no sandbox: a watcher that is late cannot excuse itself by it."""
    return (found.seconds - reference.seconds) * BEATS_PER_SECOND


def _is_late(seen: Seen, reference: Seen, drift: float, spare: float = LATE_BEATS) -> bool:
    return seen.beats + spare < reference.beats + drift


def _propagated(found: Observation, reference: Observation) -> list[str]:
    why, drift = [], _drift(found, reference)
    # Whoever is first to have gone over all its memory so often ends the machine; the other is on its way at most, and at one pass less if there was less time.
    fewest = min(PASSES - 1, *(reference.seen[name].passes for name in SENTINELS)) - (drift < 0)
    for name in SENTINELS:
        seen, before = found.seen[name], reference.seen[name]
        why += _disturbed(name, seen, before)
        if seen.changed > before.changed:
            why.append(f"{name}: {seen.changed} words of its memory changed")
        if seen.passes < fewest:
            why.append(f"{name} has gone over its memory {seen.passes} times, {fewest} at least without the fault")
        # Who is first stands at its end from then on, while its emulator lets the others live some turns more.
        spare = WATCHER_BEATS + (STOP_BEATS if seen.passes == before.passes == PASSES else 0)
        if seen.gaps > before.gaps or _is_late(seen, before, drift, spare):
            why.append(
                f"{name} lost heartbeats: {seen.beats} beats and {seen.gaps} gaps in {found.seconds * 1000:.1f} ms,"
                f" {before.beats} and {before.gaps} in {reference.seconds * 1000:.1f} without the fault"
            )
    kicker, calm = found.seen[KICKER], reference.seen[KICKER]
    why += _disturbed(KICKER, kicker, calm)
    # A kicker waits for its victim within a bound, and one more kick may be under way.
    waiting = (kicker.unanswered + 1) * KICK_BEATS + LATE_BEATS
    if _is_late(kicker, calm, drift, waiting):
        why.append(
            f"{KICKER} lost heartbeats: {kicker.beats} beats, {calm.beats} without the fault, {kicker.unanswered} kicks not answered"
        )
    pages = sorted(page for page in found.pages.keys() | reference.pages.keys() if found.pages.get(page) != reference.pages.get(page))
    if pages:
        why.append(f"{len(pages)} pages that are nobody's or another's monitor's have changed, the first at {pages[0]:#x}")
    return why


def _disturbed(name: str, seen: Seen, reference: Seen) -> list[str]:
    why = [f"{name}: {text}" for text in seen.complaints]
    if seen.crash != reference.crash:
        why.append(f"{name} has a crash record: {seen.crash}")
    if (seen.state, seen.restarts) != (reference.state, reference.restarts):
        why.append(f"{name} is {seen.state} after {seen.restarts} restarts")
    return why


def _detected(found: Observation, reference: Observation) -> list[str]:
    victim, before = found.seen[VICTIM], reference.seen[VICTIM]
    why = []
    if victim.crash != before.crash:
        why.append(f"crash record: {victim.crash}")
    if victim.restarts > before.restarts:
        why.append(f"restarted {victim.restarts} times")
    if victim.state in ("parked", "off"):
        why.append(f"it is {victim.state}")
    if found.seen[KICKER].unanswered > reference.seen[KICKER].unanswered:
        why.append("a kick was not answered in time")
    return why


def _contained(found: Observation, reference: Observation) -> list[str]:
    victim, before, drift = found.seen[VICTIM], reference.seen[VICTIM], _drift(found, reference)
    why = list(victim.complaints)
    if victim.changed > before.changed:
        why.append(f"it counts {victim.changed} words of its memory as changed")
    if victim.gaps > before.gaps + 1 or abs(victim.beats - before.beats - drift) > LATE_BEATS:
        why.append(f"{victim.beats} beats and {victim.gaps} gaps, {before.beats} and {before.gaps} without the fault")
    if abs(victim.passes - before.passes) > 1:
        why.append(f"{victim.passes} passes over its memory, {before.passes} without the fault")
    if victim.state != before.state:
        why.append(f"it is {victim.state}")
    for reason in sorted(victim.exits.keys() | before.exits.keys()):
        count, usual = victim.exits.get(reason, 0), before.exits.get(reason, 0)
        if abs(count - usual) > LATE_EXITS + EXIT_SHARE * usual + LATE_EXITS * abs(drift):
            why.append(f"{count} exits ({reason}), {usual} without the fault")
    return why


def _monitor_failed(found: Observation, reference: Observation) -> bool:
    """It neither answers a kick nor has ended its sandbox, or its sandbox stands still while the core is in the monitor."""
    victim = found.seen[VICTIM]
    if victim.state in ("parked", "off") or found.ended:
        return False
    stands = _is_late(victim, reference.seen[VICTIM], _drift(found, reference)) and not victim.restarts
    return found.seen[KICKER].unanswered > reference.seen[KICKER].unanswered or (stands and found.in_monitor)
