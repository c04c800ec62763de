# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux, BH-I1.device. Unmodified Debian that owns PCI functions: its kernel finds them on the bus by itself, and no others."""

from collections.abc import Iterator

import pytest
from bhtool.machine.dialogue import Dialogue
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import ARM, SVM, Case, Sandbox
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import platform_or_skip, stage

BOOT_EXITS = 200  # besides CPUID
CARD, DEVICE = {"0000:00:02.0": "0x1b36 0x0002"}, {"0000:00:04.0": "0x1b36 0x0005"}
REGISTERS = "/sys/bus/pci/devices/0000:00:04.0/config"


def on(*platforms: str) -> pytest.MarkDecorator:
    rows = [pytest.param(name, marks=pytest.mark.xdist_group(f"linux-pci-{name}")) for name in platforms]
    return pytest.mark.parametrize("platform", rows, scope="module")


ON_ALL, ON_ARM, ON_SVM = on(*ARM, SVM), on(*ARM), on(SVM)
pytestmark = pytest.mark.slow


def owns(platform: str, console: str, functions: tuple[str, ...]) -> Case:
    return Case(
        "linux-owns-functions",
        "BH-I1.device: a kernel sees the PCI functions it owns",
        (
            Sandbox("linux", 0, lean(platform), "linux", "vmlinuz", "rootfs.cpio.gz", 256, console, access=functions, beats=False),
            Sandbox("stranger", 1, access=("pciedu0",)),
        ),
        icount=False,
    )


@pytest.fixture(scope="module")
def machine_platform(platform: str) -> Platform:
    return platform_or_skip(platform)


@pytest.fixture(scope="module")
def shell(machine_platform: Platform) -> Iterator[Dialogue]:
    console, functions = ("uart0", ("pciuart0", "pcitest0")) if machine_platform.name in ARM else ("pciuart0", ("pcitest0",))
    scene = stage(machine_platform, owns(machine_platform.name, console, functions))
    with linux_shell(machine_platform, scene) as dialogue:
        yield dialogue


def exits(shell: Dialogue, reason: str) -> int:
    shell.session.poll()
    stats = shell.session.watches["linux"].stats
    assert stats is not None
    return stats.exits[reason]


@ON_ALL
def test_boot_exits(shell: Dialogue) -> None:
    boot = shell.session.watches["linux"].exits_boot()
    assert sum(boot.values()) - boot["identify"] <= BOOT_EXITS, boot


@ON_ALL
def test_own_functions_and_no_others(shell: Dialogue, platform: str) -> None:
    found = shell.ask("cd /sys/bus/pci/devices; for f in *; do echo $f $(cat $f/vendor $f/device); done; cd /")
    assert dict(line.split(" ", 1) for line in found) == CARD | DEVICE


@ON_ALL
def test_registers_are_read_without_an_exit(shell: Dialogue) -> None:
    before = exits(shell, "device")
    assert shell.number(f"for n in 1 2 3 4 5; do md5sum {REGISTERS}; done | sort -u | wc -l") == 1
    assert exits(shell, "device") == before


@ON_ALL
def test_base_addresses_stay(shell: Dialogue) -> None:
    """The kernel itself, for root, moves the device: the write has no effect."""
    before, written = shell.ask(f"md5sum {REGISTERS}"), exits(shell, "device")
    shell.ask(f"dd if=/dev/zero of={REGISTERS} bs=4 seek=4 count=1 2> /dev/null")
    assert shell.ask(f"md5sum {REGISTERS}") == before
    assert exits(shell, "device") > written


@ON_ARM
def test_the_serial_card_interrupts(shell: Dialogue) -> None:
    """What is written to the card drains by its own interrupts."""
    count = "awk '/ttyS0/ { print $2 }' /proc/interrupts"
    shell.ask("exec 4<>/dev/ttyS0")
    before = shell.ask(count)
    shell.ask("cat /proc/kallsyms | head -c 4096 >&4")
    after = shell.ask(count)
    assert after
    assert int(after[0]) > int(before[0] if before else 0)


@ON_SVM
def test_the_console_interrupts_without_exits(shell: Dialogue) -> None:
    """A PC's card is the console, on a level-triggered line: what is typed arrives by interrupts, which neither mask it nor exit."""
    count = "awk '/IO-APIC.*fasteoi.*ttyS/ { print $2 }' /proc/interrupts"
    before, interrupts = exits(shell, "device"), shell.number(count)
    for _ in range(20):
        assert shell.ask("echo heard") == ["heard"]
    assert shell.number(count) >= interrupts + 20
    assert exits(shell, "device") == before


@ON_SVM
def test_the_console_begins_before_its_driver(shell: Dialogue) -> None:
    assert shell.ask("dmesg | grep -c 'bootconsole .uart8250. enabled'") == ["1"]
