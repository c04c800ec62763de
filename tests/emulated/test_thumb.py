# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux. What keeps Thumb code out of the tool's programs for qemu-armv7: docs/decisions/guests.md, BH-D537."""

import subprocess
from pathlib import Path
from typing import Any, cast

import pytest
from bhtool import paths
from bhtool.image import payloads
from bhtool.platforms import Platform
from elftools.elf.elffile import ELFFile

from tests.emulated.case import ARMV7
from tests.emulated.scene import silent
from tests.emulated.test_own_root import lines_of

SOURCE = paths.ROOT / "tests" / "guests" / "armv7" / "thumb_it.S"
V5TE = 4  # Tag_CPU_arch: Addenda to, and Errata in, the ABI for the ARM Architecture, 2.5.4
COMPILE = ("clang-19", "--target=armv7a-none-linux-gnueabi", "-nostdlib", "-static", "-fuse-ld=lld")


@pytest.mark.long
@pytest.mark.parametrize(("unprotected", "said"), [((), "thumb: wrong"), (("msr",), "thumb: right")])
@pytest.mark.parametrize("platform", [ARMV7])
def test_the_emulator_loses_it_state_where_coprocessor_15_is_trapped(
    machine_platform: Platform, unprotected: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    """The day this is right with all protections, `programs` of the platform can go."""
    (tmp_path / "root").mkdir()
    subprocess.run([*COMPILE, SOURCE, "-o", tmp_path / "root" / "init"], check=True)
    lines, state = lines_of(machine_platform, tmp_path, "root", unprotected)
    assert said in lines, (state, lines)


@pytest.mark.slow
@pytest.mark.parametrize("platform", [ARMV7])
def test_the_tools_own_programs_have_no_thumb_code_with_it(machine_platform: Platform) -> None:
    """IT came with ARMv6T2: ARMv7 ARM A1.4. What Debian's `armel` is compiled for has none."""
    busybox = payloads.cached("busybox-static", machine_platform.programs_architecture, "./bin/busybox", "", silent)
    with busybox.open("rb") as file:
        (section,) = cast(Any, ELFFile(file)).iter_sections("SHT_ARM_ATTRIBUTES")
        (part,) = section.iter_subsections()
        told = {one.tag: one.value for below in part.iter_subsubsections() for one in below.iter_attributes()}
    assert told["TAG_CPU_ARCH"] == V5TE
