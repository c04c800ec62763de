# SPDX-License-Identifier: Apache-2.0
"""BH-I5.tiny. One PC image holds two vendors' resident code; a private monitor holds that of its processor's vendor alone."""

import io

import pytest
from bhtool import abi, paths
from bhtool.machine import Machine, timing_for
from bhtool.platforms import Platform
from bhtool.session import Session
from elftools.elf.elffile import ELFFile

from tests.emulated.case import X86
from tests.emulated.scene import monitor, stage_file

VENDORS = ("svm", "vmx")
LIMIT_SECONDS = 120.0


def section(elf: ELFFile, name: str) -> tuple[int, bytes]:
    """Where a section is linked to, and what is in it."""
    found = elf.get_section_by_name(name)
    assert found is not None, name
    return int(found["sh_addr"]), bytes(found.data())


@pytest.mark.parametrize("platform", X86)
def test_only_the_own_vendor_is_there(machine_platform: Platform) -> None:
    scene = stage_file(machine_platform, paths.PARTITIONS / "native.dts")
    elf = ELFFile(io.BytesIO(monitor(machine_platform)))
    start, common = section(elf, ".text")
    with Session(machine_platform, scene.plan, Machine(machine_platform, scene.image, timing_for(machine_platform, scene.plan))) as session:
        for event in session.events(LIMIT_SECONDS):
            if event is None and all(watch.settled for watch in session.watches.values()):
                break
        for sandbox in scene.plan.sandboxes:
            arena = session.memory.read(sandbox.pool_hpa, abi.lib.BH_POOL_BYTES)
            copy = arena.index(common) - start
            for vendor in VENDORS:
                for part in ("text", "rodata"):
                    linked, content = section(elf, f".{vendor}_{part}")
                    found = arena[copy + linked :][: len(content)]
                    assert found == (content if vendor == machine_platform.backend else bytes(len(content))), f"{vendor} {part}"
