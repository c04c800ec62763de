# SPDX-License-Identifier: Apache-2.0
"""BH-I1.port. Every port in every width from a sandbox that tolerates: it finds the empty bus that docs/registers-x86_64.md describes.

Only Linux sandboxes tolerate, and only our own kernel sweeps: so the attacker gets the mark that a Linux sandbox has
in the partition table.
"""

from dataclasses import replace

import pytest
from bhtool import abi
from bhtool.config.table import checksum
from bhtool.image.formats import bootable
from bhtool.platforms import Platform

from tests.emulated.case import SVM, Case, attacked
from tests.emulated.expect import ExitsAtLeast, Expectation, Says
from tests.emulated.observe import judge, observe
from tests.emulated.scene import Scene, monitor, stage

PIT_CHANNEL_2, RTC_DATA = 0x42, 0x71  # the two that answer 0
PORTS = 0x10000


def tolerant(platform: Platform, scene: Scene, name: str) -> Scene:
    """The sandbox is marked as one of Linux."""
    copy = abi.ffi.new("struct bh_table *")
    abi.ffi.memmove(copy, scene.plan.table, len(scene.plan.table))
    index = [one.name for one in scene.plan.sandboxes].index(name)
    copy.sandboxes[index].flags |= abi.lib.BH_SANDBOX_LINUX
    copy.checksum = checksum(abi.bytes_of(copy))
    plan = replace(scene.plan, table=abi.bytes_of(copy))
    return Scene(plan, scene.places, bootable(platform, monitor(platform), plan))


@pytest.mark.slow
@pytest.mark.parametrize("platform", [SVM])
@pytest.mark.parametrize("kind", ["in8", "in16", "in32", "out8", "out16", "out32"])
def test_bus_is_empty(machine_platform: Platform, kind: str) -> None:
    """`out` writes 0 everywhere and reads back; 0x604 takes no 0 for an order.

    Every access exits: none reached the machine.
    """
    found = tuple(Says("attacker", f"sweep {kind} {port:#x}-{port:#x}$") for port in (PIT_CHANNEL_2, RTC_DATA))
    exits = ExitsAtLeast("attacker", "port", PORTS if kind.startswith("in") else 2 * PORTS)
    expected: tuple[Expectation, ...] = (*found, Says("attacker", f"sweep {kind}: 2 of {PORTS}$"), exits)
    case = Case("ports", "", attacked(f"sweep={kind}"), expected, (SVM,), limit_beats=60000)
    seen = observe(machine_platform, case, tolerant(machine_platform, stage(machine_platform, case), "attacker"))
    assert not judge(case, seen), seen.state()
