# SPDX-License-Identifier: Apache-2.0
"""BH-I2.exitless. The monitor's exit counters, checked from outside: the emulator's own log of what left the guest says the same.

ARM: QEMU's `-d int` names every exception, the core, and the levels it went from and to. SVM: `-d in_asm` names every #VMEXIT.
VT-x: of Bochs' processors, the debugging messages.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from bhtool.platforms import Platform

from tests.emulated.case import ALL, SVM, VTX, Case, Sandbox
from tests.emulated.expect import ExitsAtLeast, NoExits, Says
from tests.emulated.observe import Observation, judge, observe
from tests.emulated.scene import stage

TAKEN = re.compile(r"^Taking exception \d+ \[[^\]]*\] on CPU (\d+)")
TO_MONITOR = re.compile(r"^\.\.\.from EL[01] to EL2")
VMEXIT = re.compile(r"vmexit\(")  # after the note of an injection, if there was one
BOCHS_VMEXIT = re.compile(r"\[CPU(\d+) *\] VMEXIT reason = ")

WORK = Case(
    "exit-log",
    "counters are true",
    (
        Sandbox("worker", 1, "ticks=2000 uart-irqs=2000", uart="uart1", trusted_idle=True),
        Sandbox("caller", (2, 3), "ticks=20 trips=call trips=register ipi=1,300 kick=0,300", may_kick=("worker",), beats=False),
    ),
    (
        Says("worker", "uart-irqs 2000$"),
        ExitsAtLeast("caller", "call", 1300),
        ExitsAtLeast("caller", "ipi", 300),
        NoExits("worker", ("kick",)),
    ),
)


def arm_exits(log: str) -> Counter[int]:
    """Exceptions taken to EL2 from below, by core."""
    found: Counter[int] = Counter()
    core = -1
    for line in log.splitlines():
        if taken := TAKEN.match(line):
            core = int(taken[1])
        elif TO_MONITOR.match(line):
            found[core] += 1
    return found


def bochs_exits(log: str) -> Counter[int]:
    """VM exits, by core."""
    return Counter(int(core) for core in BOCHS_VMEXIT.findall(log))


def logging_to(log: Path, platform: str) -> tuple[str, ...]:
    """What the emulator is told besides."""
    if platform == VTX:
        return (f"log: {log}", "debug: action=ignore, " + ", ".join(f"cpu{n}=report" for n in range(4)))
    return ("-d", "in_asm" if platform == SVM else "int", "-D", str(log))


def counted(seen: Observation) -> Counter[int]:
    """What the monitors counted, by core."""
    watches = [(watch.plan.cores, watch.stats.core_exits) for watch in seen.watches.values() if watch.stats]
    return +Counter({core: sum(exits.values()) for cores, each in watches for core, exits in zip(cores, each, strict=False)})


@pytest.mark.slow
@pytest.mark.parametrize("platform", ALL)
def test_counters_agree_with_the_emulator(machine_platform: Platform, tmp_path: Path) -> None:
    log = tmp_path / "log"
    scene = stage(machine_platform, WORK)
    seen = observe(machine_platform, WORK, scene, logging_to(log, machine_platform.name))
    assert not judge(WORK, seen), seen.state()
    text = log.read_text(errors="replace")
    log.unlink()
    if machine_platform.name == SVM:
        assert len(VMEXIT.findall(text)) == counted(seen).total()
    else:
        assert (bochs_exits if machine_platform.name == VTX else arm_exits)(text) == counted(seen)
