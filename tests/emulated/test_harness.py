# SPDX-License-Identifier: Apache-2.0
"""The harness itself: somebody who falls silent after everything expected was seen fails a case."""

from pathlib import Path
from typing import cast

import pytest
from bhtool.config.plan import SandboxPlan
from bhtool.console import Source
from bhtool.memory import Heartbeat
from bhtool.platforms import Platform
from bhtool.session import Watch

from tests.emulated.case import ALL, Case, Sandbox
from tests.emulated.expect import Says
from tests.emulated.observe import Observation, Progress, judge, observe
from tests.emulated.places import Places
from tests.emulated.scene import stage

SILENT = Case(
    "dies-silently",
    "who beats is seen to beat on",
    (Sandbox("bystander", 0), Sandbox("victim", 2, "ticks=300 spin")),
    (Says("victim", ": spin"),),
    limit_beats=600,
)


@pytest.mark.parametrize("platform", ALL)
def test_silent_death_is_noticed(machine_platform: Platform, tmp_path: Path) -> None:
    seen = observe(machine_platform, SILENT, stage(machine_platform, SILENT, tmp_path))
    assert seen.beats("victim") > 0
    assert judge(SILENT, seen) == ["not everybody beat on: victim"]


def test_a_late_look_leaves_time_to_beat_on() -> None:
    """A machine that ran far before it was first looked at has as long from there as any other."""
    watches = {name: Watch(cast(SandboxPlan, None), cast(Source, None), ready=True) for name in ("bystander", "victim")}
    seen, progress = Observation(Places({}, 0, 0), watches), Progress(SILENT)
    seen.lines["victim"].append("victim: spin")
    over = []
    for beats in (500, 650, 1001):
        for name, watch in watches.items():
            watch.heartbeat = Heartbeat(beats if name == "bystander" else 290, 1000000, 0, 0)
        over.append(progress.over(seen))
    assert over == [False, False, True]
    assert seen.standing == ["victim"]
