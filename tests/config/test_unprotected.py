# SPDX-License-Identifier: Apache-2.0
"""BH-F2.unprotected. What is open to a sandbox without its memory, irq or dma protection: all of the machine, once, and nothing that another protection keeps."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from bhtool.config.plan import Plan, Region
from bhtool.config.span import Span

GOOD = Path(__file__).parent / "broken" / "good.dtsi"
GIB = 1 << 30
CONTROLLERS = {
    "qemu-aarch64": (Span(0x08000000, 0x10000), Span(0x080A0000, 0x80000)),
    "qemu-aarch64-gicv2": (Span(0x08000000, 0x1000), Span(0x08011000, 0x1000)),  # and GICC_DIR
    "qemu-armv7": (Span(0x08000000, 0x1000), Span(0x08011000, 0x1000)),
    "qemu-svm": (Span(0xFEC00000, 0x1000),),
}
ALIASES = {"qemu-armv7": Span(3 * GIB, GIB), "qemu-svm": Span(128 * GIB, 2 * GIB)}
PLATFORMS = sorted(CONTROLLERS)
WITH_CARDS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm")

Compile = Callable[[Path, str], Plan]


def regions(compile_on: Compile, folder: Path, platform: str, *off: str) -> list[Region]:
    file = folder / "open.dts"
    names = ", ".join(f'"{one}"' for one in off)
    file.write_text(f'#include "{GOOD}"\n&two {{ unprotected = {names}; }};\n')
    plan = compile_on(file, platform)
    assert not plan.errors, plan.errors
    return plan.sandboxes[1].regions


def seen(found: list[Region], address: int) -> bool:
    return any(one.gpa <= address < one.gpa + one.size for one in found)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_memory_shows_the_machine_but_interrupt_controllers(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    found = sorted(regions(compile_on, tmp_path, platform, "memory"), key=lambda one: one.gpa)
    assert all(one.gpa + one.size <= other.gpa for one, other in pairwise(found))
    assert seen(found, 0)
    assert seen(found, 4 * GIB - 1)
    for span in CONTROLLERS[platform]:
        assert not seen(found, span.start)
        assert not seen(found, span.end - 1)
    aliases = [Span(one.gpa, one.size) for one in found if one.name == "alias of RAM"]
    assert aliases == [ALIASES.get(platform, Span(129 * GIB, 2 * GIB))]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_irq_shows_interrupt_controllers_alone(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    found = [one for one in regions(compile_on, tmp_path, platform, "irq", "ipi") if one.kind == "open"]
    assert [(one.gpa, one.hpa, one.size) for one in found] == [(span.start, span.start, span.size) for span in CONTROLLERS[platform]]
    assert all(one.registers and one.permissions == "rw" for one in found)


@pytest.mark.parametrize("platform", WITH_CARDS)
def test_dma_shows_functions_the_machine_and_processors_nothing(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    file = tmp_path / "open.dts"
    file.write_text(f'#include "{GOOD}"\n&two {{ access = <&nic0>; unprotected = "dma"; }};\n')
    plan = compile_on(file, platform)
    assert not plan.errors, plan.errors
    one = plan.sandboxes[1]
    assert not any(region.kind in ("open", "dma") for region in one.regions)
    found = sorted([*one.ram, *one.for_functions], key=lambda region: region.gpa)
    assert all(region.gpa + region.size <= other.gpa for region, other in pairwise(found))
    assert seen(found, 0)
    assert seen(found, 4 * GIB - 1)
    for span in CONTROLLERS[platform]:
        assert seen(found, span.start)
    assert all((region.kind, region.permissions) == ("dma", "rw") for region in one.for_functions)
