# SPDX-License-Identifier: Apache-2.0
"""BH-F3.run. A guest that takes exceptions without end stops a machine that counts instructions; whoever runs it is told."""

import pytest
from bhtool.machine.standstill import Standstill
from bhtool.platforms import Platform

from tests.emulated.case import ARM, Case, Sandbox
from tests.emulated.observe import started
from tests.emulated.scene import stage

PATIENCE, LIMIT = 1.0, 60.0  # of processor time, of the host's


def notice(platform: Platform, arguments: str, beats: int) -> str:
    """What is said before its neighbour has beaten so often, or when time is up."""
    case = Case(
        "standstill",
        "who runs a machine is told what became of it",
        (Sandbox("one", 0), Sandbox("other", 1, arguments)),
        (),
        (platform.name,),
    )
    with started(platform, case, stage(platform, case), ()) as (session, _):
        standstill = Standstill(session, PATIENCE)
        for event in session.events(LIMIT):
            if event is None and (said := standstill.notice()):
                return said
            beat = session.watches["one"].heartbeat
            if beat and beat.beats >= beats:
                return ""
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("platform", ARM)
def test_a_guest_that_stops_the_clock_is_noticed(machine_platform: Platform, platform: str) -> None:
    assert "its clock has not moved" in notice(machine_platform, "ticks=20 endless", 100000)


@pytest.mark.slow
@pytest.mark.parametrize("platform", ARM[:1])
def test_one_that_only_works_is_not(machine_platform: Platform, platform: str) -> None:
    assert not notice(machine_platform, "ticks=20 spin", 2000)
