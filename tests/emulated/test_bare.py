# SPDX-License-Identifier: Apache-2.0
"""BH-E1.harness. What a case expects of a guest's interrupt controller is what the same program sees on the emulator without a monitor."""

import re

import pytest
from bhtool.bench.stage import COUNTED, STARTED, bare, bare_lines
from bhtool.image.build import PROBE, build_platform
from bhtool.machine.console import Uart
from bhtool.machine.emulated import Machine
from bhtool.platforms import Platform

from tests.emulated.case import ARM
from tests.emulated.cases_interrupts import MASKS
from tests.emulated.expect import Returned
from tests.emulated.scene import silent

LIMIT = 120.0
ATTEMPT = re.compile(r": try (\S+) (\S+)$")
ANSWER = re.compile(r": (returned \S+)$")


def answers(platform: Platform, commands: list[str]) -> dict[str, str]:
    """What the probe, alone on its machine, says to each command: typed one by one, as it keeps no more than a line that nobody reads."""
    build_platform(platform, silent)
    probe = (platform.build / PROBE).read_bytes()
    found: dict[str, str] = {}
    left = iter(commands)
    tried = ""
    with Machine(bare(platform), probe, COUNTED) as machine:
        line = Uart(machine.serials[platform.emulator.serials[0]])
        for said in bare_lines(machine, line, LIMIT):
            if attempt := ATTEMPT.search(said):
                tried = f"{attempt[1]}={attempt[2]}"
            elif answer := ANSWER.search(said):
                found[tried] = answer[1]
            if STARTED in said or ANSWER.search(said):
                command = next(left, None)
                if command is None:
                    break
                line.write(f"{command}\r".encode())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("platform", ARM)
def test_masks_are_those_of_the_bare_machine(machine_platform: Platform, platform: str) -> None:
    """A GICv3 guest's are an exit each, but mask what the machine's would."""
    rows = [one for case in MASKS if platform in case.platforms for one in case.expect if isinstance(one, Returned)]
    said = answers(machine_platform, [one.command for one in rows])
    assert said == {one.command: f"returned {one.value:#x}" for one in rows if one.value is not None}
