# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler. `dts/partitions/realtime.dts` beside a Linux that boots: each VCPU is given what it was promised, and what is typed comes back, without
an exit. In exact time: what the host delays is nobody's fault. The emulator's turns count as time, so that the loop misses no period is shown where no
other core runs: test_flood.py.
"""

import re

import pytest
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import LineEvent, ReadyEvent, Session
from bhtool.paths import PARTITIONS

from tests.emulated.scene import compile_file, platform_or_skip, scene_of

PLATFORMS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.platform(one)) for one in PLATFORMS])]

FILE = PARTITIONS / "realtime.dts"
LIMIT = 240.0
TYPED = "ping"
ALWAYS_READY = ("hog", "findprimes")
GIVEN = re.compile(r"vcpu (\w+): (\d+) us of (\d+) us; given (\d+) us in (\d+) us, background (\d+) us$")
RAN = re.compile(r"(\w+): (\d+) rounds(?:, (\d+) missed, latest \d+ ns)?$")
LAST = "findprimes"
BEGINS_US = 100  # at most, from when a VCPU is made to when its thread is ready, from where its periods count


def watch(session: Session) -> list[str]:
    """What `control` says, up to the last line of its summary; it is typed at when it is ready."""
    lines: list[str] = []
    for event in session.events(LIMIT):
        if isinstance(event, ReadyEvent) and event.sandbox == "control":
            assert session.watches["control"].console.write(TYPED.encode())
        if isinstance(event, LineEvent) and event.sandbox == "control":
            lines.append(event.text)
            if (found := RAN.search(event.text)) and found[1] == LAST:
                return lines
    raise AssertionError(f"no summary: {lines}")


def test_promises_are_kept_beside_linux(name: str) -> None:
    platform = platform_or_skip(name)
    scene = scene_of(platform, compile_file(platform, FILE))
    with Session(platform, scene.plan, Machine(platform, scene.image, timing_for(platform, scene.plan, exact=True))) as session:
        lines = watch(session)
        exits = session.watches["control"].exits_steady()
    given = {found[1]: tuple(map(int, found.groups()[1:])) for found in map(GIVEN.search, lines) if found}
    ran = {found[1]: (int(found[2]), int(found[3] or 0)) for found in map(RAN.search, lines) if found}
    assert given.keys() == {"loop", "hog", "echo", "findprimes", "main"}
    for vcpu in ALWAYS_READY:
        budget, period, had, elapsed, _ = given[vcpu]
        assert had >= (elapsed - BEGINS_US) // period * budget, vcpu
    _, period, _, elapsed, _ = given["loop"]
    assert given["hog"][4] == 0, "it may not run without budget"
    assert given[LAST][4] > 0, "nobody has what is left over"
    assert sum(ran["loop"]) >= elapsed // period - 1, "a period is neither begun nor missed"
    assert 0 < ran["echo"][0] <= len(TYPED)  # on Bochs they come by the host's time
    assert not any(exits.values()), exits
