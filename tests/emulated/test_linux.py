# SPDX-License-Identifier: Apache-2.0
"""Unmodified Debian in a sandbox beside native ones: what its shell sees, and what its monitor counts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from bhtool.dialogue import Dialogue
from bhtool.machine import Machine
from bhtool.memory import Exits
from bhtool.platforms import Platform
from bhtool.session import Session

from tests.emulated.case import ALL, GICV2, GICV3, SVM, Case, Sandbox
from tests.emulated.scene import stage

BOOT_SECONDS = 120.0
WORK_SECONDS = 180.0
TICKS = 10000
KICKS = 1000
BOOT_EXITS = 200  # besides CPUID
STEADY = {SVM: {"identify"}, GICV3: set(), GICV2: {"idle"}}  # DESIGN: one core sends no IPI
TIMER_ROW = {SVM: "LOC:", GICV3: "arch_timer", GICV2: "arch_timer"}

BESIDE_LINUX = Case(
    "beside-linux",
    "Linux is a sandbox like any other",
    (
        Sandbox("linux", 0, "quiet", "linux", "vmlinuz", "rootfs.cpio.gz", 256, "uart0", beats=False),
        Sandbox("control", 1),
        Sandbox("sensor", 2, uart="uart1", may_kick=("linux",)),
    ),
    icount=False,
)

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("platform", ALL)]


@pytest.fixture
def shell(machine_platform: Platform, tmp_path: Path) -> Iterator[Dialogue]:
    """The shell, up; Linux's counters so far are those of its boot."""
    scene = stage(machine_platform, BESIDE_LINUX, tmp_path)
    with Session(machine_platform, scene.plan, Machine(machine_platform, scene.image)) as session:
        dialogue = Dialogue(session, "linux")
        dialogue.wait_until_ready(BOOT_SECONDS)
        yield dialogue


def counted(shell: Dialogue) -> Exits:
    shell.session.poll()
    stats = shell.session.watches["linux"].stats
    assert stats is not None
    return {reason: count for reason, count in stats.exits.items() if count}


def timer_interrupts(shell: Dialogue, platform: Platform) -> int:
    [row] = shell.ask(f"grep {TIMER_ROW[platform.name]} /proc/interrupts")
    return int(row.split(":")[1].split()[0])


def load(shell: Dialogue, platform: Platform, ticks: int) -> None:
    """Processes, memory, timer and console, until so many timer interrupts have come."""
    goal = timer_interrupts(shell, platform) + ticks
    work = f"while [ $(grep {TIMER_ROW[platform.name]} /proc/interrupts | tr -s ' ' | cut -d' ' -f3) -lt {goal} ]"
    shell.ask(f"{work}; do for n in 1 2 3 4 5 6 7 8; do cksum /bin/busybox >/dev/null; done; usleep 1000; done", WORK_SECONDS)


def test_boot_exits(shell: Dialogue) -> None:
    boot = shell.session.watches["linux"].exits_boot()
    assert sum(boot.values()) - boot["identify"] <= BOOT_EXITS, boot


def test_what_the_shell_sees(shell: Dialogue, machine_platform: Platform) -> None:
    assert shell.number("grep -c ^processor /proc/cpuinfo") == 1
    assert shell.number("nproc") == 1
    before = timer_interrupts(shell, machine_platform)
    exits = counted(shell)
    load(shell, machine_platform, TICKS)
    assert timer_interrupts(shell, machine_platform) - before >= TICKS
    more = {reason for reason, count in counted(shell).items() if count > exits.get(reason, 0)}
    assert more <= STEADY[machine_platform.name], f"before {exits}, after {counted(shell)}"


def test_all_of_its_memory(shell: Dialogue) -> None:
    """Nearly every free byte written with a pattern, and read back twice."""
    free = shell.number("grep MemFree /proc/meminfo") // 1024 - 24
    assert free > 100
    shell.ask("mkdir -p /pattern && mount -t tmpfs -o size=100% tmpfs /pattern")
    shell.ask("dd if=/dev/urandom of=/pattern/seed bs=1M count=8 2>/dev/null")
    shell.ask(f"n=0; while [ $n -lt {free // 8 - 1} ]; do cp /pattern/seed /pattern/copy-$n || break; n=$((n + 1)); done", WORK_SECONDS)
    for _ in range(2):
        sums = shell.ask("cksum /pattern/* | cut -d' ' -f1,2 | sort | uniq -c", WORK_SECONDS)
        assert len(sums) == 1, sums
        assert int(sums[0].split()[0]) == free // 8
