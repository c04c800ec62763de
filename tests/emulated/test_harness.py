# SPDX-License-Identifier: Apache-2.0
"""BH-E1.harness. The harness itself: somebody who falls silent after everything expected was seen fails a case; arguments put into a plan are those of its file."""

from typing import cast

import pytest
from bhtool.config.plan import SandboxPlan
from bhtool.machine.console import Source
from bhtool.machine.memory import Heartbeat
from bhtool.machine.session import Watch
from bhtool.platforms import Platform

from tests.emulated.case import ALL, Case, Sandbox
from tests.emulated.concurrent import only
from tests.emulated.expect import Says
from tests.emulated.observe import Observation, Progress, judge, observe
from tests.emulated.places import Places
from tests.emulated.scene import compile_shape, partition_text, scene_of, stage
from tests.emulated.table import CASES

# Two beat on: QEMU gives cores turns as long as until its next timer, and one that beats alone beside a core that spins came 12.7 ms late once.
SILENT = Case(
    "dies-silently",
    "who beats is seen to beat on",
    (Sandbox("bystander", 0), Sandbox("neighbour", 1), Sandbox("victim", 2, "ticks=300 spin")),
    (Says("victim", ": spin"),),
    limit_beats=600,
)


@pytest.mark.parametrize("platform", ALL)
def test_silent_death_is_noticed(machine_platform: Platform) -> None:
    seen = observe(machine_platform, SILENT, stage(machine_platform, SILENT))
    assert seen.beats("victim") > 0
    assert judge(SILENT, seen) == ["not everybody beat on: victim"]


@pytest.mark.parametrize("platform", ALL)
def test_arguments_are_those_of_the_file(machine_platform: Platform) -> None:
    """The image of a case is that of its partition file, whose sandboxes are told what to do."""
    case = next(one for one in CASES if machine_platform.name in one.platforms and any("{" in box.arguments for box in one.sandboxes))
    scene = stage(machine_platform, case)
    whole = compile_shape(machine_platform, partition_text(case, {one.name: scene.places.fill(one.arguments) for one in case.sandboxes}))
    assert scene_of(machine_platform, whole).image == scene.image


def test_the_bound_that_is_lengthened_stands_once() -> None:
    """Two places, or none, mean that the monitor is not as the harness knows it."""
    word = bytes(range(1, 9))
    assert only(bytes(16) + word, word, 8, range(0, 24, 8), "it") == 16
    for pool in (bytes(24), word + bytes(8) + word, bytes(4) + word):
        with pytest.raises(AssertionError, match=r"it stands [02] times"):
            only(pool, word, 8, range(0, 24, 8), "it")


def test_a_late_look_leaves_time_to_beat_on() -> None:
    """A machine that ran far before it was first looked at has as long from there as any other."""
    watches = {name: Watch(cast(SandboxPlan, None), cast(Source, None), ready=True) for name in ("bystander", "neighbour", "victim")}
    seen, progress = Observation(Places({}, 0, 0), watches), Progress(SILENT)
    seen.lines["victim"].append("victim: spin")
    over = []
    for beats in (500, 650, 1001):
        for name, watch in watches.items():
            watch.heartbeat = Heartbeat(290 if name == "victim" else beats, 1000000, 0, 0)
        over.append(progress.over(seen))
    assert over == [False, False, True]
    assert seen.standing == ["victim"]
