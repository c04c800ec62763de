# SPDX-License-Identifier: Apache-2.0
"""`bulkhead faults`: the model is decided by seed and number, and each verdict has something that it alone tells."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import cast

import click
import pytest
from bhtool.attack.stage import SENTINELS
from bhtool.cli import loaded
from bhtool.config.plan import Plan
from bhtool.faults import patience
from bhtool.faults.fault import MOMENTS, STEPS, Fault, Moment, Region, draw
from bhtool.faults.patience import ASLEEP_SECONDS, DEAF_SECONDS, STANDS_SECONDS, Patience, Why
from bhtool.faults.regions import resembles
from bhtool.faults.series import Found, Series, hearts, wilson
from bhtool.faults.stage import KICKER, KICKS, PASSES, VICTIM, Stage
from bhtool.faults.verdict import KICK_BEATS, Observation, Outcome, Seen, Verdict, judge
from bhtool.machine.emulated import Machine
from bhtool.platforms import load
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

REGIONS = (
    Region("guest text", tuple(range(0x1000, 0x2000, 8)), (0x1008, 0x1010), is_guests=True),
    Region("stage 2", tuple(range(0x3000, 0x4000, 8)), is_judged=True),
    Region("monitor registers", registers=(("x0", 64), ("cpsr", 32)), in_monitor=True),
)
FIRST = 80
CALM = Seen("ready", beats=380, passes=4, exits={"call": 200, "idle": 500})
NAMES = (*SENTINELS, VICTIM, KICKER)
REFERENCE = Observation(dict.fromkeys(NAMES, CALM), pages={0x5000: b"a monitor's"}, seconds=0.4)


def seen(**changed: Seen) -> Observation:
    return replace(REFERENCE, seen={**REFERENCE.seen, **changed})


# ---- the model ----


@given(st.integers(0, 1000), st.integers(0, 5000))
def test_seed_and_number_decide_a_fault(seed: int, number: int) -> None:
    one = draw(seed, number, REGIONS, FIRST)
    assert one == draw(seed, number, REGIONS, FIRST)
    assert one.region == REGIONS[number % len(REGIONS)]
    assert FIRST <= one.moment.kicks < 2 * FIRST
    if one.region.registers:
        assert one.bit < dict(one.region.registers)[one.register]
        assert one.moment.step is not None
        assert one.moment.step < STEPS
    else:
        assert one.address in one.region.words
        assert one.bit < 64
        assert one.moment.step is None


def test_faults_of_a_seed_share_few_moments() -> None:
    """Each takes a machine without a fault to compare with."""
    moments = {draw(1, number, REGIONS[:2], FIRST).moment for number in range(1000)}
    assert 1 < len(moments) <= MOMENTS


def test_half_of_the_faults_hit_words_that_are_not_zero() -> None:
    filled = Counter(draw(1, number, REGIONS[:1], FIRST).address in REGIONS[0].filled for number in range(2000))
    assert 900 < filled[True] < 1150


def test_a_moment_changes_the_kickers_commands_and_nothing_else() -> None:
    blank = KICKS.format(period=0, kicks=0).encode()
    stage = Stage(load("qemu-aarch64"), Plan("qemu-aarch64", Path("test.dts")), b"before " + blank + b" after", Path("test.dts"))
    image = stage.image_for(Moment(99, 1042))
    assert image == b"before watch=1,1042,0099 life watch=1,1000,1000000 after"


def test_a_frame_of_the_monitor_is_known_by_most_of_its_words() -> None:
    """A vendor's code is left out; frames of data have words of code by chance at most."""
    linked = list(range(1, 513))
    assert resembles([0] * 200 + linked[200:], linked)
    assert not resembles(linked[:100] + [0x5A] * 300 + [0] * 112, linked)
    assert not resembles([0] * 512, linked)


# ---- verdicts ----


def test_nothing_differs() -> None:
    assert judge(REFERENCE, REFERENCE) == Verdict(Outcome.SILENT)


def test_a_machine_lives_longer_where_the_victim_has_ended() -> None:
    """All cores share an emulator's time: that everybody beats more, or less, is no sign where the machine has lived so much longer."""
    more = replace(seen(**dict.fromkeys(NAMES, replace(CALM, beats=388))), seconds=REFERENCE.seconds + 0.008)
    assert judge(more, REFERENCE).outcome == Outcome.SILENT


@pytest.mark.parametrize(("fewer", "longer_ms"), [(2, 0), (0, 2), (200, 20)])
def test_watchers_that_are_both_late_excuse_each_other_by_nothing(fewer: int, longer_ms: int) -> None:
    """The emulator says how long the machine lived, and they must have beaten for so long."""
    both = dict.fromkeys(SENTINELS, replace(CALM, beats=CALM.beats - fewer))
    found = judge(replace(seen(**both), seconds=REFERENCE.seconds + longer_ms / 1000), REFERENCE)
    assert found.outcome == Outcome.PROPAGATED
    assert "watch0 lost heartbeats" in found.why
    assert "watch1 lost heartbeats" in found.why


def test_a_beat_that_was_about_to_come_is_not_lost() -> None:
    """It is, by the sandbox's own count of gaps, if it was a whole period late."""
    both = dict.fromkeys(SENTINELS, replace(CALM, beats=CALM.beats - 1))
    assert judge(seen(**both), REFERENCE).outcome == Outcome.SILENT
    assert judge(seen(watch0=replace(CALM, gaps=1)), REFERENCE).outcome == Outcome.PROPAGATED


def test_a_watcher_may_be_second_to_its_end_but_no_later() -> None:
    last = replace(CALM, passes=PASSES)
    assert judge(seen(watch1=last), seen(watch0=last)).outcome == Outcome.SILENT
    for passes in (0, PASSES - 2):
        found = judge(seen(watch0=replace(CALM, passes=passes)), seen(watch1=last))
        assert found.outcome == Outcome.PROPAGATED
        assert f"over its memory {passes} times" in found.why


def test_a_machine_that_is_stopped_sooner_has_gone_over_less_memory() -> None:
    """By a pass at most: the other watcher was about to come to the end of one."""
    last = replace(CALM, passes=PASSES)
    for passes, outcome in ((PASSES - 2, Outcome.SILENT), (PASSES - 3, Outcome.PROPAGATED)):
        found = replace(seen(watch0=replace(CALM, passes=passes), watch1=last), seconds=REFERENCE.seconds - 0.001)
        assert judge(found, seen(watch1=last)).outcome == outcome


def test_who_is_at_its_end_beats_no_more() -> None:
    """While its emulator stops the others, which takes some turns and no more; and it excuses no lateness before."""
    last = replace(CALM, passes=PASSES)
    for fewer, longer_ms, outcome in (
        (0, 2, Outcome.SILENT),
        (3, 2, Outcome.PROPAGATED),
        (0, 5, Outcome.PROPAGATED),
        (2, -2, Outcome.SILENT),
    ):
        found = seen(watch0=replace(CALM, beats=CALM.beats + longer_ms), watch1=replace(last, beats=CALM.beats - fewer))
        assert judge(replace(found, seconds=REFERENCE.seconds + longer_ms / 1000), seen(watch1=last)).outcome == outcome


CONTAINED = {
    "its memory": replace(CALM, changed=1),
    "late": replace(CALM, gaps=2),
    "still": replace(CALM, beats=150),
    "silent": replace(CALM, passes=1),
    "busy": replace(CALM, exits={"call": 900, "idle": 500}),
    "never calls": replace(CALM, exits={"idle": 500}),
    "complains": replace(CALM, complaints=("fault at 0x40",)),
}
DETECTED = {
    "crash": replace(CALM, crash="memory"),
    "restarted": replace(CALM, restarts=1),
    "parked": replace(CALM, state="parked"),
    "off": replace(CALM, state="off"),
}


@pytest.mark.parametrize("victim", CONTAINED.values(), ids=CONTAINED)
def test_what_only_the_victim_shows_is_contained(victim: Seen) -> None:
    found = judge(seen(victim=victim), REFERENCE)
    assert (found.outcome, found.monitor_failed) == (Outcome.CONTAINED, False)
    assert found.why


@pytest.mark.parametrize("victim", DETECTED.values(), ids=DETECTED)
def test_what_its_monitor_was_told_is_detected(victim: Seen) -> None:
    assert judge(seen(victim=victim), REFERENCE).outcome == Outcome.DETECTED


PROPAGATED = {
    "crash": replace(CALM, crash="memory"),
    "restarted": replace(CALM, restarts=1),
    "parked": replace(CALM, state="parked"),
    "memory": replace(CALM, changed=1),
    "one late beat": replace(CALM, gaps=1),
    "still": replace(CALM, beats=200),
    "complains": replace(CALM, complaints=("stray interrupt 40",)),
}


@pytest.mark.parametrize("watcher", SENTINELS)
@pytest.mark.parametrize("disturbed", PROPAGATED.values(), ids=PROPAGATED)
def test_whoever_keeps_watch_is_disturbed_by_anything(watcher: str, disturbed: Seen) -> None:
    """Whatever the victim shows."""
    for victim in (CALM, *DETECTED.values()):
        assert judge(seen(**{watcher: disturbed, VICTIM: victim}), REFERENCE).outcome == Outcome.PROPAGATED


def test_pages_of_others_are_compared() -> None:
    for pages in ({}, {0x5000: b"another"}, {0x5000: b"a monitor's", 0x6000: b"new"}):
        assert judge(replace(REFERENCE, pages=pages), REFERENCE).outcome == Outcome.PROPAGATED


def test_a_kicker_waits_for_its_victim_no_longer_than_its_bound() -> None:
    waits = replace(CALM, beats=CALM.beats - KICK_BEATS, unanswered=1)
    found = judge(seen(kicker=waits), REFERENCE)
    assert (found.outcome, found.monitor_failed) == (Outcome.DETECTED, True)
    stands = replace(CALM, beats=CALM.beats - 3 * KICK_BEATS, unanswered=1)
    assert judge(seen(kicker=stands), REFERENCE).outcome == Outcome.PROPAGATED
    assert judge(seen(kicker=replace(CALM, state="parked")), REFERENCE).outcome == Outcome.PROPAGATED


def test_a_monitor_that_serves_no_more_is_told_apart() -> None:
    still = seen(victim=CONTAINED["still"])
    assert judge(replace(still, in_monitor=True), REFERENCE) == replace(judge(still, REFERENCE), monitor_failed=True)
    assert not judge(replace(seen(victim=replace(CALM, beats=150, state="parked")), in_monitor=True), REFERENCE).monitor_failed


def test_the_end_of_everybody() -> None:
    assert judge(replace(REFERENCE, ended="status 1"), REFERENCE).outcome == Outcome.MACHINE
    assert judge(replace(REFERENCE, stood=True), REFERENCE).outcome == Outcome.MACHINE


# ---- figures ----


def test_wilson_intervals() -> None:
    """E. B. Wilson's own form, worked out by hand for 0 of 10 and 5 of 10: z^2 / (n + z^2), and around a half."""
    assert wilson(0, 10) == (0.0, 0.2775)
    assert wilson(5, 10) == (0.2366, 0.7634)
    assert wilson(0, 0) == (0.0, 1.0)


def of(region: Region, outcome: Outcome, number: int = 0) -> Found:
    return Found(Fault(number, region, 0x1008, "", 3, Moment(FIRST, 1000)), Verdict(outcome), stays=True, named="")


def test_rows_count_every_fault_once() -> None:
    result = Series(load("qemu-aarch64"), 1, REGIONS, [of(REGIONS[0], Outcome.SILENT), of(REGIONS[1], Outcome.PROPAGATED, 1)])
    text, tables, whole = result.rows()
    assert (text["region"], text["silent"], text["propagated"], text["silent_and_stays"]) == ("guest text", 1, 0, 1)
    assert (tables["region"], tables["propagated"], whole["faults"]) == ("stage 2", 1, 2)
    assert whole["shares"]["propagated"] == [0.5, *wilson(1, 2)]
    assert result.as_dict()["disturbing"][0]["number"] == 1


def test_a_series_fails_by_what_is_the_victims_own() -> None:
    platform = load("qemu-aarch64")
    assert Series(platform, 1, REGIONS, [of(REGIONS[1], Outcome.PROPAGATED), of(REGIONS[0], Outcome.DETECTED)]).good()
    for outcome in (Outcome.PROPAGATED, Outcome.MACHINE):
        assert not Series(platform, 1, REGIONS, [of(REGIONS[0], outcome)]).good()


def test_a_fault_is_not_stored_as_a_series() -> None:
    done = CliRunner().invoke(loaded("faults"), ["--only", "7", "--store"], standalone_mode=False)
    assert isinstance(done.exception, click.UsageError)


def test_a_fault_that_is_out_voted_leaves_its_trace() -> None:
    one = of(REGIONS[0], Outcome.SILENT)
    voted = replace(one, out_voted=(Verdict(Outcome.SILENT), Verdict(Outcome.PROPAGATED, "watch0 lost heartbeats")))
    detected = replace(one, out_voted=(Verdict(Outcome.SILENT), Verdict(Outcome.DETECTED)))
    result = Series(load("qemu-aarch64"), 1, REGIONS, [one, voted, detected])
    assert result.out_voted() == [voted]
    (told,) = result.as_dict()["out_voted"]
    assert told["out_voted"][1] == {"outcome": "propagated", "why": "watch0 lost heartbeats"}
    assert result.good()


def test_the_record_has_hearts_of_both_machines() -> None:
    """A kicker that waits within its bound is late all the same."""
    late = seen(kicker=replace(CALM, beats=300, gaps=1, late_us=80_000))
    told = hearts(late, REFERENCE)
    assert told["with"][KICKER] == {"beats": 300, "gaps": 1, "late_us": 80_000, "passes": 4, "unanswered": 0}
    assert told["without"][KICKER]["gaps"] == 0
    assert told["without"]["lived_us"] == 400_000


# ---- when a machine is stopped from outside ----


class Emulator:
    """What a Patience asks a machine for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pid, self.seconds, self.used, self.sleeps, self.host = 1, 0.0, 0.0, False, 0.0
        monkeypatch.setattr(patience, "processor_seconds", lambda _pid: self.used)
        monkeypatch.setattr(patience, "waits", lambda _pid: self.sleeps)
        monkeypatch.setattr("bhtool.faults.patience.time.monotonic", lambda: self.host)

    @property
    def clock(self) -> "Emulator":
        return self

    def now(self) -> float | None:
        return self.seconds


@pytest.fixture
def emulator(monkeypatch: pytest.MonkeyPatch) -> Emulator:
    return Emulator(monkeypatch)


def test_a_clock_stands_by_the_emulators_work_and_not_by_the_hosts_time(emulator: Emulator) -> None:
    looks = Patience(cast(Machine, emulator), 4.0)
    assert looks.over() is None
    emulator.host += 100
    assert looks.over() is None, "it had no turn"
    emulator.used += STANDS_SECONDS
    assert looks.over() is Why.STANDS
    looks.go_on()
    assert looks.over() is None, "another span"
    emulator.used, emulator.seconds = emulator.used + STANDS_SECONDS, 1e-6
    assert looks.over() is None, "it has moved"


def test_what_the_emulator_has_not_answered_is_not_known(emulator: Emulator) -> None:
    looks = Patience(cast(Machine, emulator), 4.0)
    assert looks.over() is None
    emulator.seconds, emulator.used = None, STANDS_SECONDS  # type: ignore[assignment]
    assert looks.over() is None
    emulator.used = DEAF_SECONDS
    assert looks.over() is Why.DEAD


def test_a_machine_has_so_much_of_its_own_time(emulator: Emulator) -> None:
    emulator.seconds = 1.0
    looks = Patience(cast(Machine, emulator), 4.0)
    assert looks.over() is None
    emulator.seconds = 4.9
    assert looks.over() is None
    emulator.seconds = 5.0
    assert looks.over() is Why.LATE


def test_an_emulator_that_sleeps_for_good_is_dead(emulator: Emulator) -> None:
    looks = Patience(cast(Machine, emulator), 4.0)
    emulator.sleeps = True
    assert looks.over() is None
    emulator.host = ASLEEP_SECONDS
    assert looks.over() is Why.DEAD
