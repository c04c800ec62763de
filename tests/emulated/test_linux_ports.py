# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux, BH-F2.network, BH-I1.dma, BH-I2.exitless. Unmodified Debian with a network card that is ports and a line alone, where there is no IOMMU: an NE2000.

Its configuration registers are behind ports, too, which exit while the kernel looks at its bus. Frames and interrupts do not; Linux' driver masks its line at the
IOAPIC while it hands over a frame, if the line calls meanwhile, as it does where the answer comes in the same instruction. At the other end is the emulator's own network.
"""

import hashlib
import os
import socket
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from bhtool.machine.dialogue import Dialogue
from bhtool.machine.memory import Exits
from bhtool.machine.wiring import Network, Wiring

from tests.emulated.boot_arguments import lean
from tests.emulated.case import VTX, Case, Sandbox
from tests.emulated.linux_shell import linux_shell
from tests.emulated.network import free_port, served
from tests.emulated.scene import platform_or_skip, stage

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("linux-ports"), pytest.mark.parametrize("platform", [VTX], scope="module")]
KERNEL = "linux-image-amd64"  # the tool's has no driver of the card
PACKETS, FILE_BYTES = 50, 100_000
MASKING = 5  # exits of Linux for a line that it masks and lets go: two registers selected and written, one read back
WORD, MASTER = "/sys/bus/pci/devices/0000:00:03.0/config", 4
DHCP = "printf '#!/bin/sh\\n[ $1 = bound ] && ip addr add $ip/24 dev $interface\\n' > /tmp/dhcp; chmod +x /tmp/dhcp; udhcpc -i eth0 -n -q -s /tmp/dhcp"


@dataclass(frozen=True)
class Linux:
    shell: Dialogue
    port: int  # of this host; handed to port 80 there

    def exits(self) -> Exits:
        """But for those of CPUID, which programs ask as they start."""
        self.shell.session.poll()
        stats = self.shell.session.watches["linux"].stats
        assert stats is not None
        return {reason: count for reason, count in stats.exits.items() if reason != "identify"}

    def interrupts(self) -> int:
        return self.shell.number("awk '/IO-APIC.*fasteoi.*eth0/ { print $2 }' /proc/interrupts")

    def ping(self, address: str) -> tuple[list[str], dict[str, int], int]:
        """What it said, its exits by reason, and the card's interrupts."""
        before, called = self.exits(), self.interrupts()
        said = self.shell.ask(f"ping -q -i 0.01 -s 1000 -W 1 -c {PACKETS} {address} | grep received")
        return said, self.more(before), self.interrupts() - called

    def more(self, before: Exits) -> dict[str, int]:
        return {reason: count - before.get(reason, 0) for reason, count in self.exits().items() if count != before.get(reason, 0)}


def with_a_card(platform: str) -> Case:
    words = lean(platform).replace("btf_vmlinux_init,", "")  # a module is judged by it
    linux = Sandbox(
        "linux", 0, words, "linux", "vmlinuz", "rootfs.cpio.gz", 128, "uart0", access=("nic0",), modules=("ne2k-pci",), beats=False
    )
    return Case("linux-ports", "a card is its sandbox's", (linux, Sandbox("neighbour", 1)), icount=False)


@pytest.fixture(scope="module")
def linux(platform: str) -> Iterator[Linux]:
    machine, port = replace(platform_or_skip(platform), linux_package=KERNEL), free_port()
    wiring = Wiring({"nic0": Network("user", ((port, 80),))})
    with linux_shell(machine, stage(machine, with_a_card(platform)), wiring) as shell:
        asked = shell.ask(f"ip link set eth0 up; {DHCP} 2>&1 | tail -n 1")
        assert "lease of 10.0.2.15 obtained from 10.0.2.2" in asked[-1], asked
        shell.ask("mkdir /tmp/files; httpd -p 80 -h /tmp/files; ping -c 1 10.0.2.2")
        yield Linux(shell, port)


def test_frames_and_interrupts_without_exits(linux: Linux) -> None:
    """Nobody answers a broadcast: each frame's interrupt comes when it has been sent."""
    said, exits, interrupts = linux.ping("10.0.2.255")
    assert said == [f"{PACKETS} packets transmitted, 0 packets received, 100% packet loss"]
    assert interrupts >= PACKETS
    assert exits == {}


def test_an_answer_costs_what_the_driver_masks(linux: Linux) -> None:
    """Ports of the card cause no exit here, either."""
    said, exits, interrupts = linux.ping("10.0.2.2")
    assert said == [f"{PACKETS} packets transmitted, {PACKETS} packets received, 0% packet loss"]
    assert interrupts >= PACKETS
    assert exits.keys() <= {"device"}
    assert exits.get("device", 0) <= MASKING * interrupts


def test_a_file_comes_from_it_whole(linux: Linux) -> None:
    told = linux.shell.ask(f"head -c {FILE_BYTES} /dev/urandom > /tmp/files/file; sha256sum < /tmp/files/file")
    before = linux.exits()
    with urllib.request.urlopen(f"http://127.0.0.1:{linux.port}/file", timeout=60) as answer:
        content = answer.read()
    assert len(content) == FILE_BYTES
    assert told == [f"{hashlib.sha256(content).hexdigest()}  -"]
    assert linux.more(before).keys() <= {"device"}


def test_a_file_comes_to_it_whole(linux: Linux) -> None:
    content = os.urandom(FILE_BYTES)
    linux.shell.ask("killall httpd; nc -l -p 80 < /dev/null > /tmp/file & sleep 0.5")
    with socket.create_connection(("127.0.0.1", linux.port), timeout=60) as line:
        line.sendall(content)
    assert linux.shell.ask("wait; sha256sum < /tmp/file")[-1] == f"{hashlib.sha256(content).hexdigest()}  -"


def test_nothing_leads_outside(linux: Linux) -> None:
    """The server answers whoever is here; `nc` there starts and ends without an answer."""
    with served(b"secret") as server:
        with urllib.request.urlopen(f"http://127.0.0.1:{server}/", timeout=30) as answer:
            assert answer.read() == b"secret"
        said = linux.shell.ask(f"echo GET / | nc -w 5 10.0.2.2 {server}; echo status $?; ping -q -c 1 10.0.2.2 | grep received")
        assert "secret" not in " ".join(said)
        assert said[-2] in ("status 0", "status 1"), said
        assert "1 packets received" in said[-1], said


def test_the_card_does_not_master_the_bus(linux: Linux) -> None:
    """Nor does root bring it to."""
    linux.shell.ask(f"printf '\\007' | dd of={WORD} bs=1 seek=4 count=1 conv=notrunc 2> /dev/null")
    command = linux.shell.number(f"dd if={WORD} bs=1 skip=4 count=1 2> /dev/null | od -An -tu1")
    assert command & 1
    assert not command & MASTER
