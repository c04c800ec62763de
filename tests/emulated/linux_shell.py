# SPDX-License-Identifier: Apache-2.0
"""The shell of a Linux that a test has booted."""

from collections.abc import Iterator
from contextlib import contextmanager

from bhtool.machine.dialogue import Dialogue
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import NOTHING_WIRED, Timing
from bhtool.machine.session import Session
from bhtool.machine.wiring import Wiring
from bhtool.platforms import Platform

from tests.emulated.scene import Scene

BOOT_SECONDS = 300.0


@contextmanager
def linux_shell(platform: Platform, scene: Scene, wiring: Wiring = NOTHING_WIRED, timing: Timing | None = None) -> Iterator[Dialogue]:
    """The shell of the sandbox `linux`, up, on a terminal too wide to wrap what is typed. `timing`: None: the host's."""
    with Session(platform, scene.plan, Machine(platform, scene.image, timing or Timing(), wiring=wiring)) as session:
        dialogue = Dialogue(session, "linux")
        dialogue.wait_until_ready(BOOT_SECONDS)
        dialogue.ask("stty cols 1000")
        yield dialogue
