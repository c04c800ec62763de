# SPDX-License-Identifier: Apache-2.0
"""The harness itself: somebody who falls silent after everything expected was seen fails a case."""

from pathlib import Path

import pytest
from bhtool.platforms import Platform

from tests.emulated.case import ALL, Case, Sandbox
from tests.emulated.expect import Says
from tests.emulated.observe import judge, observe
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
