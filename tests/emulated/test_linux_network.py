# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux, BH-I1.dma, BH-I2.exitless. Unmodified Debian with a network card and a disc that master the bus, behind the IOMMU.

Its memory lies elsewhere than it believes, it is shown no IOMMU, and its packets cause no exit. At the other end is the emulator's own network, which
answers without one outside.
"""

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from bhtool.machine.dialogue import Dialogue
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import ARM, GICV3, SVM, VTD, Case, Sandbox
from tests.emulated.linux_shell import linux_shell
from tests.emulated.network import plugged
from tests.emulated.scene import platform_or_skip, stage

pytestmark = pytest.mark.slow
ENTRIES = {GICV3: (0x08 * 64, 0xD, 1), SVM: (0x28 * 32, 0x6000_0000_0000_0803, 3)}  # of nic0: where, open, closed
STANDARD_KERNEL = dict.fromkeys((SVM, VTD), "linux-image-amd64")  # the tool's has no driver of the card
ADDRESS = 0x000F_FFFF_FFFF_F000  # in an entry
PACKETS = 50
OTHER_END = "10.0.2.2"
UP = "ip link set eth0 up && ip addr add 10.0.2.15/24 dev eth0"
WAIT_FOR_LINK = "n=0; while [ $(cat /sys/class/net/eth0/carrier) = 0 ] && [ $n -lt 100 ]; do n=$((n+1)); usleep 100000; done"
PING = f"ping -q -i 0.01 -s 1000 -c {PACKETS} {OTHER_END} | grep received"
RECEIVED = "cat /sys/class/net/eth0/statistics/rx_packets"


def on(*platforms: str) -> pytest.MarkDecorator:
    rows = [pytest.param(name, marks=pytest.mark.xdist_group(f"linux-network-{name}")) for name in platforms]
    return pytest.mark.parametrize("platform", rows, scope="module")


def with_a_card(platform: Platform, modules: tuple[str, ...] = ("e1000e", "nvme")) -> Case:
    linux = Sandbox(
        "linux",
        0,
        lean(platform.name),
        "linux",
        "vmlinuz",
        "rootfs.cpio.gz",
        256,
        "uart0",
        access=("nic0", "disk0"),
        modules=modules,
        beats=False,
    )
    return Case("linux-network", "what a function reaches is its sandbox's", (linux, Sandbox("neighbour", 1)), icount=False)


@contextmanager
def booted(name: str) -> Iterator[Dialogue]:
    found = platform_or_skip(name)
    platform = plugged(replace(found, linux_package=STANDARD_KERNEL.get(name, found.linux_package)), {"nic0": "user,restrict=on"})
    scene = stage(platform, with_a_card(platform))
    linux = scene.plan.sandboxes[0]
    assert linux.ram_gpa != linux.ram_hpa
    with linux_shell(platform, scene) as dialogue:
        yield dialogue


@pytest.fixture(scope="module")
def shell(platform: str) -> Iterator[Dialogue]:
    with booted(platform) as dialogue:
        yield dialogue


def exits(shell: Dialogue) -> dict[str, int]:
    """But for those of an idle core that somebody may kick, of which the tool's own look is one; and on a PC CPUID, which programs ask."""
    shell.session.poll()
    stats = shell.session.watches["linux"].stats
    assert stats is not None
    return {reason: count for reason, count in stats.exits.items() if reason not in ("idle", "identify")}


@on(*ARM, SVM, VTD)
def test_packets_without_exits(shell: Dialogue) -> None:
    shell.ask(f"{UP}; {WAIT_FOR_LINK}; ping -c 1 {OTHER_END}")
    before = exits(shell)
    assert shell.ask(PING) == [f"{PACKETS} packets transmitted, {PACKETS} packets received, 0% packet loss"]
    assert exits(shell) == before


@on(*ARM)
def test_a_disc_without_exits(shell: Dialogue) -> None:
    """Of zeros: its back end keeps nothing. What is read has come through the IOMMU into pages that held something else."""
    shell.ask("yes | dd of=/tmp/junk bs=64k count=128; rm /tmp/junk; dd if=/dev/nvme0n1 of=/dev/null bs=4k count=1")
    before = exits(shell)
    assert shell.ask("dd if=/dev/nvme0n1 bs=64k count=64 2> /dev/null | md5sum") == ["b5cfa9d6c8febd618f91ac2843d50a1c  -"]
    shell.ask("dd if=/dev/zero of=/dev/nvme0n1 bs=64k count=16 2> /dev/null; sync")
    assert exits(shell) == before


@on(*ARM, SVM, VTD)
def test_it_sees_no_iommu(shell: Dialogue, platform: str) -> None:
    """On a PC its interrupts are messages: three, by vectors that Linux has chosen."""
    assert shell.number("ls /sys/kernel/iommu_groups 2> /dev/null | wc -l") == 0
    shell.ask(UP)
    assert shell.number("grep -c eth0 /proc/interrupts") == (3 if platform in (SVM, VTD) else 1)


@on(GICV3, SVM)
def test_nothing_passes_a_closed_entry(platform: str) -> None:
    """Somebody from outside has closed it before the driver began: the link is up, and no packet arrives."""
    with booted(platform) as shell:
        session = shell.session
        offset, opened, closed = ENTRIES[platform]
        entry = session.plan.iommu_hpa + offset - session.platform.ram_base
        assert struct.unpack("<Q", os.pread(session.machine.ram, 8, entry))[0] & ~ADDRESS == opened
        os.pwrite(session.machine.ram, struct.pack("<Q", closed), entry)
        shell.ask(f"{UP}; {WAIT_FOR_LINK}")
        assert shell.ask("cat /sys/class/net/eth0/carrier") == ["1"]
        shell.ask(f"ping -c 3 {OTHER_END}")
        assert shell.number(RECEIVED) == 0
