# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux. docs/guides/own-root-file-system.md. A root file system out of a directory or a tar starts, as it was packed, and loads the modules it was given."""

import os
import tarfile
from pathlib import Path

import pytest
from bhtool.image import payloads
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.session import LineEvent, Session
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import ARMV7, GICV3, SVM
from tests.emulated.scene import compiled, scene_of, silent

LIMIT_SECONDS = 300.0  # of the host: only ever reached when something hangs
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
for module in $(cat /etc/modules-load.d/*.conf); do modprobe $module; done
while read name rest; do echo "module $name"; done < /proc/modules
echo "links $(stat -c %h /bin/one) owner $(stat -c %u:%g /init) console $(stat -c %t:%T /dev/console)"
echo "root: done"
poweroff -f
"""
PARTITION = """/dts-v1/;
#define MiB(n) 0x0 ((n) << 20)
#include BOARD_DTSI
/ {
	reserved-memory { #address-cells = <2>; #size-cells = <2>; ranges; linux_ram: linux { size = <MiB(256)>; }; };
	domains {
		compatible = "bulkhead,partitions-v1"; idle-cores = <&cpu1>, <&cpu2>, <&cpu3>;
		linux {
			compatible = "bulkhead,sandbox-v1"; os,type = "linux"; cores = <&cpu0>; memory-region = <&linux_ram>;
			access = <&uart0>; console = <&uart0>; image = "vmlinuz"; initrd = "INITRD"; modules = "dm-zero"; bootargs = "ARGUMENTS"; WITHOUT
		};
	};
};
"""


def write_root(platform: Platform, root: Path) -> None:
    (root / "bin").mkdir(parents=True)
    busybox = payloads.cached("busybox-static", platform.programs_architecture, "./bin/busybox", "", silent)
    (root / "bin" / "busybox").write_bytes(busybox.read_bytes())
    (root / "bin" / "busybox").chmod(0o755)
    os.link(root / "bin" / "busybox", root / "bin" / "one")
    os.link(root / "bin" / "busybox", root / "bin" / "another")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)


def lines_of(platform: Platform, folder: Path, initrd: str, unprotected: tuple[str, ...] = ()) -> tuple[list[str], str]:
    """What it said, and how it ended."""
    file = folder / "own.dts"
    arguments = lean(platform.name).replace("btf_vmlinux_init,", "")  # which modules want
    without = ", ".join(f'"{one}"' for one in unprotected)
    text = PARTITION.replace("INITRD", initrd).replace("ARGUMENTS", arguments)
    file.write_text(text.replace("WITHOUT", f"unprotected = {without};" if without else ""))
    plan = compiled(platform, file)
    said: list[str] = []
    counts = platform.emulator.icount_shift if platform.emulator.counts_linux else None
    machine = Machine(platform, scene_of(platform, plan).image, Timing(counts))
    with Session(platform, plan, machine) as session:
        watch = session.watches["linux"]
        for event in session.events(LIMIT_SECONDS):
            said += [event.text.strip()] if isinstance(event, LineEvent) else []
            if event is None and watch.state in ("off", "parked"):
                break
        return said, watch.state


@pytest.mark.parametrize(
    ("platform", "form"),
    [
        pytest.param(GICV3, "directory", marks=pytest.mark.slow),
        pytest.param(ARMV7, "tar", marks=pytest.mark.long),
        pytest.param(SVM, "tar", marks=pytest.mark.long),
    ],
)
def test_an_own_root_starts(machine_platform: Platform, form: str, tmp_path: Path) -> None:
    root = tmp_path / "root"
    write_root(machine_platform, root)
    if form == "tar":
        with tarfile.open(tmp_path / "root.tar.gz", "w:gz") as tar:
            tar.add(root, ".")
    said, state = lines_of(machine_platform, tmp_path, "root" if form == "directory" else "root.tar.gz")
    assert state == "off", said
    wanted = ["module dm_zero", "module dm_mod", "links 3 owner 0:0 console 5:1", "root: done"]
    assert [line for line in wanted if line not in said] == [], said
