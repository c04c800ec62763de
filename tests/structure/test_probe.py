# SPDX-License-Identifier: Apache-2.0
"""The sandbox kernel is a library: it knows nothing of the program that is linked with it, which includes of it only what is published here."""

import re
from pathlib import Path

import pytest

from tests.structure.test_layers import ROOT, tracked

PROBE = "tests/guests/probe"
PUBLISHED = {
    "core/channel_calls",
    "core/channels",
    "core/clock",
    "core/command",
    "core/console",
    "core/cpu",
    "core/doorbells",
    "core/fault",
    "core/frames",
    "core/heartbeat",
    "core/idle",
    "core/info",
    "core/irq",
    "core/memory",
    "core/smp",
    "core/space",
    "core/space_entry",
    "core/stacks",
    "core/sync",
    "core/text",
    "core/thread",
    "core/thread_end",
    "core/thread_move",
    "core/thread_slice",
    "core/timer",
    "core/user",
    "drivers/gic_dist",
    "drivers/i82574",
    "drivers/x2apic",
    "sched/sched",
}
OF_AN_ARCHITECTURE = {  # what attacks and measurements have in common with what they attack or measure
    "aarch64": {"generic_timer"},
    "armv7": {"generic_timer"},
    "x86_64": {"descriptors", "frame", "segments", "timer_hw"},
}
SEEN_BY = {"arm": ("arm", "aarch64", "armv7"), "aarch64": ("arm", "aarch64"), "armv7": ("arm", "armv7"), "x86_64": ("x86_64",)}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def published() -> set[Path]:
    common = {ROOT / "kernel" / f"{name}.h" for name in PUBLISHED}
    return common | {ROOT / "kernel/arch" / arch / f"{name}.h" for arch, names in OF_AN_ARCHITECTURE.items() for name in names}


def of_the_kernel(header: str, room: str) -> set[Path]:
    """The files of kernel/ that the builds of this room of the probe find under this name."""
    folders = (ROOT, *(ROOT / "kernel/arch" / one for one in SEEN_BY.get(room, ())))
    return {path for folder in folders if (path := folder / header).is_relative_to(ROOT / "kernel") and path.is_file()}


def sources(folder: str) -> list[Path]:
    return [path for path in tracked(folder) if path.suffix in {".c", ".h", ".S"}]


def wrong(text: str, room: str) -> list[str]:
    return [header for header in INCLUDE.findall(text) if of_the_kernel(header, room) - published()]


def test_the_probe_includes_what_is_published() -> None:
    files = sources(PROBE)
    assert len(files) > 20
    assert not {str(path): found for path in files if (found := wrong(path.read_text(), path.parent.name))}


@pytest.mark.parametrize("header", ["kernel/core/uart.h", "core_start.h", "kernel/drivers/gicv2.h", "kernel/core/main.h"])
def test_what_is_not_published_is_found(header: str) -> None:
    assert wrong(f'#include "{header}"\n', "arm") == [header]


def test_all_that_is_published_is_there_and_used() -> None:
    used = set[Path]().union(
        *(of_the_kernel(header, path.parent.name) for path in sources(PROBE) for header in INCLUDE.findall(path.read_text()))
    )
    assert published() == used & published()


def test_the_kernel_knows_no_program() -> None:
    assert not [str(path) for path in sources("kernel") if "probe" in path.read_text()]
