# SPDX-License-Identifier: Apache-2.0
"""BH-I5.tiny. One PC image holds two vendors' resident code; a private monitor holds that of its processor's vendor alone, and of IOMMUs the machine's."""

import io

import pytest
from bhtool.abi import lib
from bhtool.config.private import read_private
from bhtool.platforms import Platform
from elftools.elf.elffile import ELFFile

from tests.emulated.case import X86
from tests.emulated.scene import monitor
from tests.emulated.snapshots import grouped, scene_of, seen

VENDORS = ("svm", "vmx", "amdvi")
IOMMUS = {lib.BH_IOMMU_AMDVI: "amdvi"}


def section(elf: ELFFile, name: str) -> tuple[int, bytes]:
    """Where a section is linked to, and what is in it."""
    found = elf.get_section_by_name(name)
    assert found is not None, name
    return int(found["sh_addr"]), bytes(found.data())


@pytest.mark.parametrize("platform", [grouped(platform) for platform in X86])
def test_only_the_own_vendor_is_there(machine_platform: Platform) -> None:
    snapshot = seen(machine_platform, "native.dts").snapshot
    iommu = read_private(machine_platform.board_name).iommu
    own = {machine_platform.backend, IOMMUS[iommu[0]] if iommu else ""}
    elf = ELFFile(io.BytesIO(monitor(machine_platform)))
    start, common = section(elf, ".text")
    for sandbox in scene_of(machine_platform, "native.dts").plan.sandboxes:
        pool = sandbox.pool_hpa - snapshot.base
        arena = bytes(snapshot.ram[pool : pool + sandbox.pool_size])
        copy = arena.index(common) - start
        for vendor in VENDORS:
            for part in ("text", "rodata"):
                linked, content = section(elf, f".{vendor}_{part}")
                found = arena[copy + linked :][: len(content)]
                assert found == (content if vendor in own else bytes(len(content))), f"{vendor} {part}"
