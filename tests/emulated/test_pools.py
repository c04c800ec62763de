# SPDX-License-Identifier: Apache-2.0
"""BH-I5.tiny. What `check` says that a sandbox's monitor takes of memory is what it has taken, to the frame."""

from pathlib import Path

import pytest
from bhtool import abi
from bhtool.platforms import Platform
from bhtool.report.given_up import memory_of

from tests.emulated.case import ALL, QEMU, SECOND_SVM, VTX
from tests.emulated.snapshots import grouped, scene_of, seen

BESIDE = Path(__file__)
PCI = {**dict.fromkeys(QEMU, "pci.dts"), VTX: "pci_ports.dts"}

MACHINES = [grouped(platform, partition) for platform in ALL for partition in ("native.dts", str(BESIDE.with_name("oracle.dts")))]
MACHINES += [grouped(platform, partition, slow=True) for platform in ALL for partition in ("mixed.dts", "linux2.dts")]
MACHINES += [grouped(platform, str(BESIDE.with_name(PCI[platform])), slow=True) for platform in ALL]
MACHINES += [grouped(platform, str(BESIDE.with_name("open.dts")), slow=True) for platform in ALL]
MACHINES += [grouped(SECOND_SVM, "native.dts", slow=True)]


@pytest.mark.parametrize(("platform", "partition"), MACHINES)
def test_check_says_what_monitors_take(machine_platform: Platform, partition: str) -> None:
    machine = seen(machine_platform, partition)
    said = {one.name: memory_of(one)["monitor_bytes"] for one in scene_of(machine_platform, partition).plan.sandboxes}
    assert machine.pools == said


@pytest.mark.parametrize("platform", [grouped(platform) for platform in ALL])
def test_pools_lie_side_by_side(machine_platform: Platform) -> None:
    """And a sandbox's pool is all that its monitor has: the oracle judges whose tables lead into it."""
    plan = scene_of(machine_platform, "native.dts").plan
    ends = [plan.shared_hpa + abi.lib.BH_PAGE_BYTES, *(one.pool_hpa + one.pool_size for one in plan.sandboxes)]
    assert [one.pool_hpa for one in plan.sandboxes] == ends[:-1]
