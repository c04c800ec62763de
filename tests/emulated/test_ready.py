# SPDX-License-Identifier: Apache-2.0
"""The partition files users start with come up whole, everywhere, and nobody's start makes another miss a beat."""

import pytest
from bhtool import paths
from bhtool.machine import Machine, timing_for
from bhtool.platforms import Platform
from bhtool.session import Session

from tests.emulated.case import ALL, SECOND_SVM
from tests.emulated.scene import stage_file

LIMIT_SECONDS = 120.0


ROWS = [
    *((platform, "native.dts") for platform in ALL),
    *(pytest.param(platform, "mixed.dts", marks=pytest.mark.slow) for platform in ALL),
    pytest.param(SECOND_SVM, "native.dts", marks=pytest.mark.slow),
    pytest.param(SECOND_SVM, "mixed.dts", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("platform", "partition"), ROWS)
def test_everybody_is_ready(machine_platform: Platform, partition: str) -> None:
    scene = stage_file(machine_platform, paths.PARTITIONS / partition)
    machine = Machine(machine_platform, scene.image, timing_for(machine_platform, scene.plan))
    with Session(machine_platform, scene.plan, machine) as session:
        for event in session.events(LIMIT_SECONDS):
            if event is None and all(watch.settled for watch in session.watches.values()):
                break
        states = {name: watch.state for name, watch in session.watches.items()}
        beats = {name: watch.heartbeat for name, watch in session.watches.items() if watch.heartbeat}
    assert set(states.values()) == {"ready"}, states
    if machine.is_counted:  # otherwise gaps tell of the host
        assert not any(beat.gaps for beat in beats.values()), beats
