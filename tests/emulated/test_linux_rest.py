# SPDX-License-Identifier: Apache-2.0
"""BH-F2.linux, BH-I1.memory. A Linux that takes the rest has every stretch of it, and writes and reads all of them as one."""

import re
import struct
from pathlib import Path

import pytest
from bhtool.config.plan import Plan
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.session import LineEvent, Session
from bhtool.paths import PARTITIONS
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import ARMV7, GICV3, SVM
from tests.emulated.scene import compiled, scene_of, stage_file
from tests.emulated.test_own_root import write_root

LIMIT_SECONDS = 400.0  # of the host: only ever reached when something hangs
MIB = 1 << 20
STRETCHES, LEFT_MIB = 3, 112  # what three pinned regions leave, at least, each
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mkdir /full
mount -t tmpfs -o size=100% full /full
while read name value rest; do [ $name = MemTotal: ] && total=$value; [ $name = MemAvailable: ] && free=$value; done < /proc/meminfo
echo "total $((total / 1024))"
dd if=/dev/urandom of=/full/seed bs=1M count=1 2> /dev/null
n=0
while [ $n -lt $((free / 1024 - 12)) ]; do n=$((n + 1)); { echo $n; cat /full/seed; echo; echo $n; } > /full/$n; done
same=0
while [ $same -lt $n ]; do
  file=/full/$((same + 1))
  read first < $file
  [ "$first $(tail -n 1 $file)" = "$((same + 1)) $((same + 1))" ] || break
  same=$((same + 1))
done
echo "filled $n same $same"
poweroff -f
"""
PINNED = ((128, 112), (352, 208), (672, 1344))  # MiB above the start of RAM, and how many
PARTITION = """/dts-v1/;
#include BOARD_DTSI
/ {
	reserved-memory { #address-cells = <2>; #size-cells = <2>; ranges; REGIONS };
	domains {
		compatible = "bulkhead,partitions-v1"; idle-cores = <&cpu1>, <&cpu2>, <&cpu3>;
		linux {
			compatible = "bulkhead,sandbox-v1"; os,type = "linux"; cores = <&cpu0>; takes-the-rest;
			console = <&uart0>; image = "vmlinuz"; initrd = "root"; bootargs = "ARGUMENTS";
		};
	};
};
"""


def plan_of(platform: Platform, folder: Path) -> Plan:
    """RAM in several stretches; nobody uses what lies between them."""
    write_root(platform, folder / "root")
    (folder / "root" / "init").write_text(INIT)
    base = 0 if platform.arch == "x86_64" else 0x40000000
    places = [(base + at * MIB, size * MIB) for at, size in PINNED]
    regions = " ".join(f"r{at:x}: r@{at:x} {{ reg = <0x0 {at:#x} 0x0 {size:#x}>; }};" for at, size in places)
    file = folder / "rest.dts"
    file.write_text(PARTITION.replace("REGIONS", regions).replace("ARGUMENTS", lean(platform.name)))
    return compiled(platform, file)


def said_by(platform: Platform, plan: Plan) -> str:
    counts = platform.emulator.icount_shift if platform.emulator.counts_linux else None
    said: list[str] = []
    with Session(platform, plan, Machine(platform, scene_of(platform, plan).image, Timing(counts))) as session:
        watch = session.watches["linux"]
        for event in session.events(LIMIT_SECONDS):
            said += [event.text.strip()] if isinstance(event, LineEvent) else []
            if event is None and watch.state in ("off", "parked", "panicked"):
                break
    return "\n".join(said)


@pytest.mark.slow
@pytest.mark.parametrize("platform", [SVM])
def test_what_lay_in_low_memory_is_nothing_of_a_bios(machine_platform: Platform) -> None:
    """A loader leaves there what it likes: here words that would tell Linux that all from 128 KiB on is another's."""
    scene = stage_file(machine_platform, PARTITIONS / "mixed.dts")
    ram = next(one.ram_hpa for one in scene.plan.sandboxes if one.name == "linux")
    words = struct.pack("<H", 0x2000) + bytes(3) + struct.pack("<H", 640)
    with Session(machine_platform, scene.plan, Machine(machine_platform, scene.image, found=((ram + 0x40E, words),))) as session:
        watch = session.watches["linux"]
        for event in session.events(LIMIT_SECONDS):
            if event is None and (watch.ready or watch.state == "panicked"):
                break
        assert watch.state == "ready"


@pytest.mark.long
@pytest.mark.parametrize("platform", [GICV3, ARMV7, SVM])
def test_linux_fills_every_stretch_of_the_rest(machine_platform: Platform, tmp_path: Path) -> None:
    plan = plan_of(machine_platform, tmp_path)
    sizes = [span.size // MIB for span in plan.sandboxes[0].ram]
    large = [size for size in sizes if size >= LEFT_MIB - 16]
    assert len(large) >= STRETCHES, sizes
    said = said_by(machine_platform, plan)
    total, filled, same = (re.search(pattern, said) for pattern in (r"total (\d+)", r"filled (\d+)", r"same (\d+)"))
    assert total, said
    assert filled, said
    assert same, said
    assert int(total[1]) > sum(sizes) - min(large), "Linux does not see all of it"
    assert int(filled[1]) > sum(sizes) - min(large), "what is filled leaves room for a stretch that nobody touched"
    assert same[1] == filled[1], "it reads something else than it wrote"
