# SPDX-License-Identifier: Apache-2.0
"""BH-I8.bounded. A core that is switched off sleeps in its monitor, although its guest has left an interrupt pending for it: an idle machine costs its host nothing."""

import os
from pathlib import Path

import pytest
from bhtool.machine.emulated import Machine
from bhtool.machine.session import Session
from bhtool.platforms import Platform

from tests.emulated.case import ARM, GIC2, GICV3, Case, Sandbox
from tests.emulated.scene import stage

SETTLE_SECONDS, WATCH_SECONDS, MOST_SECONDS = 4.0, 3.0, 0.2
PEND = {**dict.fromkeys(GIC2, f"sgir={4 << 16 | 5:#x}"), GICV3: f"sgi={5 << 24 | 4:#x}"}  # interrupt 5 for machine core 2


def processor_seconds(pid: int) -> float:
    """What the emulator has used: utime and stime of proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(session: Session, seconds: float) -> None:
    for _ in session.events(seconds):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("platform", ARM)
def test_off_core_sleeps(machine_platform: Platform) -> None:
    commands = f"heartbeat=0 core=1,off {PEND[machine_platform.name]}"
    sandboxes = (Sandbox("pair", (1, 2), commands, beats=False), Sandbox("quiet", 0, "heartbeat=0", beats=False))
    case = Case("off-core-sleeps", "what is pending for a core that is off wakes nobody", sandboxes, platforms=ARM, icount=False)
    scene = stage(machine_platform, case)
    with Session(machine_platform, scene.plan, Machine(machine_platform, scene.image)) as session:
        watch(session, SETTLE_SECONDS)
        before = processor_seconds(session.machine.pid)
        watch(session, WATCH_SECONDS)
        assert processor_seconds(session.machine.pid) - before < MOST_SECONDS
