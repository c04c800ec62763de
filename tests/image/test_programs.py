# SPDX-License-Identifier: Apache-2.0
"""BH-F4.programs. What the programs of the sandbox kernel are made of: those that users run have nothing of the tests in them."""

import os
from pathlib import Path

import pytest
from bhtool.image.build import KERNEL, PROBE, STORM
from elftools.elf.elffile import ELFFile

from tests.image.test_resident import PLATFORMS, ROOT

OF_THE_KERNEL = {"arch", "kernel"}


def sources(platform: str, program: str) -> set[Path]:
    """The sources that a linked program's debug information names."""
    with (ROOT / "build" / platform / program).open("rb") as file:
        units = [unit.get_top_DIE().get_full_path() for unit in ELFFile(file).get_dwarf_info(relocate_dwarf_sections=False).iter_CUs()]
    found = {Path(os.path.normpath(unit)) for unit in units}
    return {Path(*(part for part in path.parts if part != "..")) for path in found}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_product_has_nothing_of_the_probe(platform: str) -> None:
    found = sources(platform, KERNEL)
    assert len(found) > 20
    assert {path.parts[0] for path in found} == OF_THE_KERNEL


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_hostile_neighbour_is_the_same_kernel_and_its_program(platform: str) -> None:
    kernel, storm = sources(platform, KERNEL), sources(platform, STORM)
    assert storm - kernel == {Path("kernel/dma_storm.c")}
    assert kernel - storm == {Path("kernel/sandbox_kernel.c")}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_probe_is_the_same_kernel_and_more(platform: str) -> None:
    """But for the product's own program, the one file that is not of the library."""
    kernel, probe = sources(platform, KERNEL), sources(platform, PROBE)
    assert kernel - probe == {Path("kernel/sandbox_kernel.c")}
    assert {path.parts[:3] for path in probe - kernel} == {("tests", "guests", "probe")}
