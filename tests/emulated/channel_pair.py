# SPDX-License-Identifier: Apache-2.0
"""Two sandbox kernels that somebody types at, with channels between them, on each platform: channels.dts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import ReadyEvent, Session

from tests.emulated.scene import compile_file, platform_or_skip, scene_of
from tests.emulated.shell import LIMIT, Shell

FILE = Path(__file__).parent / "channels.dts"
PLATFORMS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
MARKED = [pytest.param(name, marks=[pytest.mark.platform(name), pytest.mark.xdist_group(f"channels-{name}")]) for name in PLATFORMS]


@dataclass
class Pair:
    session: Session
    sensor: Shell
    control: Shell


@contextmanager
def pair_on(name: str, file: Path = FILE, names: tuple[str, str] = ("sensor", "control")) -> Iterator[Pair]:
    """Both ready, and listening. Of another file, those of these names."""
    platform = platform_or_skip(name)
    scene = scene_of(platform, compile_file(platform, file))
    with Session(platform, scene.plan, Machine(platform, scene.image, timing_for(platform, scene.plan, exact=True))) as session:
        ready = 0
        for event in session.events(LIMIT):
            ready += isinstance(event, ReadyEvent)
            if ready == len(scene.plan.sandboxes):
                break
        pair = Pair(session, *(Shell(session, one) for one in names))
        for shell in (pair.sensor, pair.control):
            assert shell.ask("life")[-1] == "life 0"  # it hears, and has said all that it says by itself
        yield pair
