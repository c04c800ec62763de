# SPDX-License-Identifier: Apache-2.0
"""BH-F2.ready. The partition files users start with come up whole, everywhere, and nobody's start makes another miss a beat.

The oracle looks at the same machines (test_oracle.py).
"""

import pytest
from bhtool import VERSION
from bhtool.abi import lib
from bhtool.platforms import Platform

from tests.emulated.case import ALL, SECOND_SVM
from tests.emulated.snapshots import grouped, seen

ROWS = [
    *(grouped(platform, "native.dts") for platform in ALL),
    *(grouped(platform, "mixed.dts", slow=True) for platform in ALL),
    grouped(SECOND_SVM, "native.dts", slow=True),
    grouped(SECOND_SVM, "mixed.dts", long=True),
]


@pytest.mark.parametrize(("platform", "partition"), ROWS)
def test_start_up_says_what_starts(machine_platform: Platform, partition: str) -> None:
    machine = seen(machine_platform, partition)
    what = f"bulkhead {VERSION} (table {lib.BH_TABLE_VERSION}): {machine_platform.board_name}, {partition}"
    assert machine.banner == f"{what}: {', '.join(machine.states)}"


@pytest.mark.parametrize(("platform", "partition"), ROWS)
def test_everybody_is_ready(machine_platform: Platform, partition: str) -> None:
    machine = seen(machine_platform, partition)
    assert set(machine.states.values()) == {"ready"}, machine.states
    if machine.is_counted:  # otherwise gaps tell of the host
        assert not any(beat.gaps for beat in machine.beats.values()), machine.beats
