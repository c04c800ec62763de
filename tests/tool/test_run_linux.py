# SPDX-License-Identifier: Apache-2.0
"""`bulkhead run` with a Linux that the tool knows nothing of: another root file system, or none."""

import json
from pathlib import Path
from typing import Any

import pytest
from bhtool.config.rootfs.cpio import Archive
from bhtool.errors import Status
from bhtool.image import payloads
from bhtool.platforms import load

from tests.emulated.boot_arguments import LEAN, lean
from tests.emulated.scene import platform_or_skip
from tests.tool.test_run_command import run

PLATFORM = "qemu-aarch64"
ASKS = "#!/bin/busybox sh\nexec /bin/busybox setsid /bin/busybox cttyhack /bin/busybox sh\n"
SLEEPS = "#!/bin/busybox sh\nwhile :; do /bin/busybox sleep 1000; done\n"
TWO = """\
#define MiB(n) 0x0 ((n) << 20)
#include BOARD_DTSI

/ {{
	reserved-memory {{
		#address-cells = <2>; #size-cells = <2>; ranges;
		first_ram: first {{ size = <MiB(128)>; }};
		second_ram: second {{ size = <MiB(128)>; }};
	}};

	domains {{
		compatible = "bulkhead,partitions-v1";
		idle-cores = <&cpu2>, <&cpu3>;

		first {{
			compatible = "bulkhead,sandbox-v1"; os,type = "linux"; image = "vmlinuz"; memory-region = <&first_ram>;
			cores = <&cpu0>; access = <&uart0>; console = <&uart0>; {first}
		}};

		second {{
			compatible = "bulkhead,sandbox-v1"; os,type = "linux"; image = "vmlinuz"; memory-region = <&second_ram>;
			cores = <&cpu1>; access = <&uart1>; console = <&uart1>; {second}
		}};
	}};
}};
"""

pytestmark = [pytest.mark.slow, pytest.mark.platform(PLATFORM)]


def silent(_: str) -> None:
    """Tests report nothing while they prepare."""


def root_file_system(file: Path, init: str, platform: str = PLATFORM) -> None:
    archive = Archive()
    for directory in ("bin", "dev", "proc"):
        archive.directory(directory)
    archive.character_device("dev/console", 5, 1)
    busybox = payloads.cached("busybox-static", load(platform).programs_architecture, "./bin/busybox", "", silent)
    archive.program("bin/busybox", busybox.read_bytes())
    archive.program("init", init.encode())
    file.write_bytes(archive.packed())


def partition(folder: Path, first: str, second: str) -> Path:
    file = folder / "two.dts"
    file.write_text(TWO.format(first=first, second=second))
    return file


def found(file: Path) -> dict[str, Any]:
    return {one["name"]: one for one in json.loads(file.read_text())["sandboxes"]}


def test_another_root_file_system_is_ready_when_it_asks_or_runs(tmp_path: Path) -> None:
    root_file_system(tmp_path / "asks.cpio.gz", ASKS)
    root_file_system(tmp_path / "sleeps.cpio.gz", SLEEPS)
    file = partition(tmp_path, 'initrd = "asks.cpio.gz"; bootargs = "quiet";', 'initrd = "sleeps.cpio.gz";')
    done = run("--partition", file, "--until", "ready")
    assert done.returncode == Status.GOOD, done.stdout + done.stderr
    assert "is ready: it asks for input" in done.stdout
    assert "is ready: its kernel runs /init" in done.stdout


UP = "my root: up"
ELSEWHERE = ("qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
LASTS_SECONDS = 9  # of guest time, by when the other is up and a run without a limit is not over yet
LIMITED = {"qemu-svm": ("--seconds", "300")}  # its time is the host's, which may be late with a panic's lines


@pytest.mark.long
@pytest.mark.parametrize("platform", ELSEWHERE)
def test_a_line_of_its_own_a_first_process_and_a_panic_elsewhere(platform: str, tmp_path: Path) -> None:
    """In one machine. The second is ready by its kernel's line, until its /init ends."""
    platform_or_skip(platform)
    root_file_system(tmp_path / "says.cpio.gz", SLEEPS.replace("\n", f"\necho '{UP}'\n", 1), platform)
    root_file_system(tmp_path / "ends.cpio.gz", f"#!/bin/busybox sh\n/bin/busybox sleep {LASTS_SECONDS}\n", platform)
    quiet, loud = lean(platform), lean(platform).removeprefix("quiet ")
    first = f'initrd = "says.cpio.gz"; ready-line = "{UP}"; bootargs = "{quiet}";'
    file = partition(tmp_path, first, f'initrd = "ends.cpio.gz"; bootargs = "{loud}";')
    done = run("--platform", platform, "--partition", file, *LIMITED.get(platform, ()), limit=600)
    assert done.returncode == Status.FAILED, done.stdout + done.stderr
    said = [line.strip() for line in done.stdout.splitlines()]
    assert said.index(f"first │ {UP}") < said.index("first │ is ready")
    assert "second │ is ready: its kernel runs /init" in said
    assert "second had a kernel panic: Attempted to kill init!" in done.stderr
    assert "its first process, /init, has ended; it must not" in done.stderr


REBOOTS = f'bootargs = "panic=1 {LEAN}"; health {{ on-fault = "restart"; max-restarts = <1>; }};'


@pytest.mark.parametrize(
    ("expected", "status"), [((), Status.FAILED), (("--expect-parked", "first"), Status.GOOD)], ids=["told", "expected"]
)
def test_a_panic_ends_a_run_unless_a_reboot_follows(tmp_path: Path, expected: tuple[str, ...], status: Status) -> None:
    file, result = partition(tmp_path, f'bootargs = "{LEAN}";', REBOOTS), tmp_path / "run.json"
    done = run("--partition", file, "--seconds", "16", "--json", result, *expected)
    assert done.returncode == status, done.stdout + done.stderr
    assert ("first had a kernel panic: VFS: Unable to mount root fs" in done.stderr) == (status == Status.FAILED)
    assert "second had" not in done.stderr
    first, second = found(result)["first"], found(result)["second"]
    assert first["state"] == "panicked"
    assert "Unable to mount root fs" in first["panic"]["text"]
    assert second["panic"] is None
    if status == Status.GOOD:
        assert second["restarts"] >= 1
