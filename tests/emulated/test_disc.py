# SPDX-License-Identifier: Apache-2.0
"""BH-F2.disc. Linux starts from the disc that the tool makes, which is a whole Debian, and what comes over its network card is on the disc."""

import hashlib
import os
import subprocess
import urllib.request
from pathlib import Path

import pytest
from bhtool.image import disc, ext4
from bhtool.machine.wiring import Disc, Network, Wiring

from tests.claims import evidence
from tests.emulated.bare_linux import fitted, linux
from tests.emulated.case import ARMV7, GICV3, SVM
from tests.emulated.network import free_port, served
from tests.emulated.scene import silent

FIRST_BOOT_SECONDS, BOOT_SECONDS = 500.0, 200.0  # of the host: only ever reached when something hangs
MODULES = ["nvme", "ext4", "e1000e"]
FILE_BYTES = 3_000_000
WHOLE = "dpkg-query -W -f='${db:Status-Status}\\n' | sort -u; dpkg --audit; apt-get check -qq; apt-cache show nothing 2>&1 | head -1"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(GICV3, marks=pytest.mark.slow),
        pytest.param(SVM, marks=pytest.mark.long),
        pytest.param(ARMV7, marks=pytest.mark.long),
    ],
)
@evidence("BH-F2.disc", "BH-F2.network")
def test_debian_starts_from_its_disc_and_fetches_a_file(name: str, tmp_path: Path) -> None:
    platform = fitted(name)
    file = tmp_path / "disc, of Debian.img"
    disc.copy(disc.debian(platform.debian_architecture, (), disc.DEFAULT, silent), file)
    content, port, pcap = os.urandom(FILE_BYTES), free_port(), tmp_path / "frames.pcap"
    wiring = Wiring({"nic0": Network("host", ((port, 80),), pcap)}, {"disk0": Disc(file)})
    with served(content) as server, linux(platform, wiring, tmp_path, MODULES, "root=/dev/nvme0n1p1") as console:
        assert b"packages are configured" in console.until(b"bulkhead-linux: ready", FIRST_BOOT_SECONDS)
        assert console.run(WHOLE) == "installed\nE: No packages found\n"
        assert console.run("dpkg --verify | grep -v /usr/share/", BOOT_SECONDS) == ""  # each file has the sum that its package tells
        assert "/dev/nvme0n1p1 / ext4 rw" in console.run("cat /proc/mounts")
        fetch = f"busybox wget -q -O /root/file http://10.0.2.2:{server}/; sync; echo 3 > /proc/sys/vm/drop_caches; sha256sum < /root/file"
        assert console.run(fetch).split()[0] == hashlib.sha256(content).hexdigest()
        console.run("busybox httpd -p 80 -h /etc")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/hostname", timeout=30) as answer:
            assert answer.read() == b"bulkhead\n"
        console.type("poweroff")
        assert console.machine._process.wait(30) in platform.emulator.good_exits
    assert len(pcap.read_bytes()) > FILE_BYTES
    if name == GICV3:  # what is on the disc is there at the next boot, which configures nothing
        with linux(platform, Wiring({}, {"disk0": Disc(file, forgets=True)}), tmp_path, MODULES, "root=/dev/nvme0n1p1") as console:
            assert b"first boot" not in console.until(b"bulkhead-linux: ready", BOOT_SECONDS)
            assert console.run("sha256sum < /root/file").split()[0] == hashlib.sha256(content).hexdigest()


@pytest.mark.long
@evidence("BH-F2.disc")
def test_a_disc_that_cannot_be_configured_says_so(tmp_path: Path) -> None:
    """And is not ready; the next boot, when the script has been mended, goes on where it was."""
    platform, file, script = fitted(GICV3), tmp_path / "disc.img", tmp_path / "script"
    disc.copy(disc.debian(platform.debian_architecture, (), disc.DEFAULT, silent), file)
    script.write_text("#!/bin/sh\necho no room for it\nexit 1\n")
    script.chmod(0o755)
    commands = f"cd /var/lib/dpkg/info\nrm apt.postinst\nwrite {script} apt.postinst\n"
    subprocess.run([ext4.program("debugfs"), "-w", "-f", "-", f"{file}?offset={disc.START}"], input=commands, text=True, check=True)
    wiring = Wiring({}, {"disk0": Disc(file)})
    with linux(platform, wiring, tmp_path, MODULES, "root=/dev/nvme0n1p1") as console:
        said = console.until(b"packages could not be configured", FIRST_BOOT_SECONDS) + console.until(b"root@bulkhead", BOOT_SECONDS)
        assert b"no room for it" in said or b"apt" in said
        assert b"bulkhead-linux: ready" not in said
        console.run("echo '#!/bin/sh' > /var/lib/dpkg/info/apt.postinst")
        console.type("poweroff")
        assert console.machine._process.wait(30) == 0
    with linux(platform, wiring, tmp_path, MODULES, "root=/dev/nvme0n1p1") as console:
        console.until(b"bulkhead-linux: ready", FIRST_BOOT_SECONDS)
        assert console.run("dpkg --audit; dpkg-query -W -f='${db:Status-Status}\\n' | sort -u") == "installed\n"


@pytest.mark.slow
@evidence("BH-F2.disc")
def test_a_disc_without_a_root_file_system_is_named(tmp_path: Path) -> None:
    """Nothing is in the drive: it reads as zeros. The root file system of the tool stays, and does not say that it is ready."""
    with linux(fitted(GICV3), Wiring(), tmp_path, MODULES, "root=/dev/nvme0n1p1") as console:
        said = console.until(b"bulkhead-linux: root=/dev/nvme0n1p1 cannot be the root file system", BOOT_SECONDS)
        assert b"bulkhead-linux: ready" not in said


@pytest.mark.slow
@evidence("BH-F2.network")
def test_a_hub_connects_two_cards_and_no_other(tmp_path: Path) -> None:
    """And the emulator's own network answers, but leads nowhere; `host` does."""
    pcap = tmp_path / "hub.pcap"
    wiring = Wiring({"nic0": Network("hub"), "nic1": Network("hub", pcap=pcap), "nic2": Network("user"), "nic3": Network("host")})
    with served(b"secret") as server, linux(fitted(GICV3), wiring, tmp_path, ["e1000e"]) as console:
        console.until(b"bulkhead-linux: ready", BOOT_SECONDS)
        console.run(
            "for n in 0 1 2 3; do ip link set eth$n up; done; sleep 4; ip addr add 10.9.0.2/24 dev eth1; ip addr add 10.0.2.15/24 dev eth2"
        )
        received = "cat /sys/class/net/eth$n/statistics/rx_packets"
        before = console.run(f"for n in 0 1 2; do {received}; done").split()
        # The same kernel owns both ends, so it answers only who asks for no address of its own.
        assert "Received 1" in console.run("arping -D -I eth0 -c 3 10.9.0.2")
        after = console.run(f"for n in 0 1 2; do {received}; done").split()
        assert int(after[0]) > int(before[0])
        assert int(after[1]) > int(before[1])
        assert after[2] == before[2]
        assert "1 packets received" in console.run("ping -c 1 -W 5 10.0.2.2")
        fetch = f"echo GET / | nc -w 5 10.0.2.2 {server}"
        assert "secret" not in console.run(fetch)
        console.run("ip addr flush dev eth2; ip addr add 10.0.2.15/24 dev eth3")
        assert "secret" in console.run(fetch)
    assert len(pcap.read_bytes()) > 24 + 2 * 16  # a header, two frames' headers
