# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux. Unmodified Debian in a sandbox beside native ones: what its shell sees, and what its monitor counts.

One machine a platform serves all tests of this file, in their order; time is the host's.
"""

from collections.abc import Iterator

import pytest
from bhtool.machine.dialogue import Dialogue
from bhtool.machine.memory import Exits, Stats
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import ALL, ARM, VTX, X86, Case, Sandbox
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import platform_or_skip, stage

WORK_SECONDS = 600.0
TICKS = 10000
TIMERS, KICKS = 2, 1000  # more timers at once end together, in fewer interrupts
READINGS = {VTX: 1}  # of all its memory; Bochs is slow, others take two
BOOT_EXITS = 200  # besides CPUID
STEADY = {
    **dict.fromkeys(X86, frozenset({"identify"})),
    **dict.fromkeys(ARM, frozenset({"idle"})),
}  # it may be kicked; one core sends no IPI
UART_ROW = {**dict.fromkeys(X86, "IO-APIC.*ttyS0"), **dict.fromkeys(ARM, "uart-pl011")}
TIMER_ROW = {**dict.fromkeys(X86, "LOC:"), **dict.fromkeys(ARM, "arch_timer")}

RAM_MIB = {VTX: 112}  # Bochs is slow; 128 elsewhere


def beside_linux(platform: str) -> Case:
    ram_mib = RAM_MIB.get(platform, 128)
    return Case(
        "beside-linux",
        "Linux is a sandbox like any other",
        (
            Sandbox("linux", 0, lean(platform), "linux", "vmlinuz", "rootfs.cpio.gz", ram_mib, "uart0", beats=False),
            Sandbox("control", 1),
            Sandbox("sensor", 2, uart="uart1", may_kick=("linux",)),
        ),
        icount=False,
    )


PLATFORMS = [pytest.param(name, marks=pytest.mark.xdist_group(f"linux-{name}")) for name in ALL]
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("platform", PLATFORMS, scope="module")]


@pytest.fixture(scope="module")
def machine_platform(platform: str) -> Platform:
    return platform_or_skip(platform)


@pytest.fixture(scope="module")
def shell(machine_platform: Platform) -> Iterator[Dialogue]:
    scene = stage(machine_platform, beside_linux(machine_platform.name))
    with linux_shell(machine_platform, scene) as dialogue:
        yield dialogue


def stats(shell: Dialogue) -> Stats:
    shell.session.poll()
    found = shell.session.watches["linux"].stats
    assert found is not None
    return found


def exits(shell: Dialogue) -> Exits:
    return {reason: count for reason, count in stats(shell).exits.items() if count}


def timer_count(platform: Platform) -> str:
    """A shell command that prints how many timer interrupts there have been."""
    return f"awk '/{TIMER_ROW[platform.name]}/ {{ print $2 }}' /proc/interrupts"


def work(shell: Dialogue, platform: Platform, ticks: int) -> None:
    """Processes, memory, console and timers of a millisecond, until so many timer interrupts have come."""
    goal = shell.number(timer_count(platform)) + ticks
    shell.ask("mkfifo /tmp/nothing; exec 3<>/tmp/nothing")
    shell.ask("many=$(seq 500)")
    timers = "for n in $many; do read -t 0.001 -u 3 x; done"  # little besides the timer
    at_once = f"(n={TIMERS}; while [ $n -gt 0 ]; do ({timers}) & n=$((n - 1)); done; wait)"
    shell.ask(f"while [ $({timer_count(platform)}) -lt {goal} ]; do head -c 200000 /bin/busybox | md5sum; {at_once}; done", WORK_SECONDS)


def test_boot_exits(shell: Dialogue) -> None:
    boot = shell.session.watches["linux"].exits_boot()
    assert sum(boot.values()) - boot["identify"] <= BOOT_EXITS, boot


def test_one_processor(shell: Dialogue) -> None:
    assert shell.number("grep -c ^processor /proc/cpuinfo") == 1
    assert shell.number("nproc") == 1


def test_performance_monitors(shell: Dialogue, machine_platform: Platform) -> None:
    """On ARM its cores' are its own, found by a stock driver; on PCs there are none."""
    found = shell.ask("ls /sys/bus/event_source/devices | grep -E '^(armv[78]_|cpu$)'")
    assert len(found) == (machine_platform.name in ARM), found


def test_steady_exits(shell: Dialogue, machine_platform: Platform) -> None:
    """Over ten thousand timer interrupts under load, only what one core of Linux may cost."""
    before, count = exits(shell), shell.number(timer_count(machine_platform))
    work(shell, machine_platform, TICKS)
    after = exits(shell)
    assert shell.number(timer_count(machine_platform)) - count >= TICKS
    assert {reason for reason in after if after[reason] > before.get(reason, 0)} <= STEADY[machine_platform.name], (before, after)


def test_uart_interrupts_without_exits(shell: Dialogue, machine_platform: Platform) -> None:
    """The line goes through the controller that Linux has programmed (on a PC the I/O APIC); from then on it costs nothing."""
    uart = f"awk '/{UART_ROW[machine_platform.name]}/ {{ print $2 }}' /proc/interrupts"
    before, count = exits(shell), shell.number(uart)
    for _ in range(10):
        shell.ask("head -c 200 /bin/busybox | md5sum")
    assert shell.number(uart) > count
    assert exits(shell).get("device", 0) == before.get("device", 0)


def test_kicks_go_unnoticed(shell: Dialogue, machine_platform: Platform) -> None:
    """Another monitor kicks Linux's while it works, then while it sleeps."""
    already = stats(shell).kicks
    for rounds, meanwhile in ((1, "md5sum /bin/busybox"), (2, "sleep 1")):
        shell.session.watches["sensor"].console.write(f"kick=0,{KICKS}\n".encode())
        while stats(shell).kicks < already + rounds * KICKS:
            shell.ask(meanwhile, WORK_SECONDS)
    assert shell.ask("echo unharmed") == ["unharmed"]
    assert stats(shell).kicks == already + 2 * KICKS


def test_all_of_its_memory(shell: Dialogue, machine_platform: Platform) -> None:
    """Nearly every free byte written with a pattern, and read back."""
    copies = (shell.number("grep MemFree /proc/meminfo") // 1024 - 24) // 4
    assert copies > 4
    shell.ask("mkdir /pattern && mount -t tmpfs -o size=100% tmpfs /pattern")
    shell.ask("dd if=/dev/urandom of=/pattern/0 bs=1M count=4 2>/dev/null")
    shell.ask(f"n=1; while [ $n -lt {copies} ]; do cp /pattern/0 /pattern/$n || break; n=$((n + 1)); done", WORK_SECONDS)
    for _ in range(READINGS.get(machine_platform.name, 2)):
        sums = shell.ask("md5sum /pattern/* | cut -d' ' -f1 | sort | uniq -c", WORK_SECONDS)
        assert [int(line.split()[0]) for line in sums] == [copies]
