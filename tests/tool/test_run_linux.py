# SPDX-License-Identifier: Apache-2.0
"""`bulkhead run` with a Linux that the tool knows nothing of: another root file system, or none."""

import json
from pathlib import Path
from typing import Any

import pytest
from bhtool import payloads
from bhtool.cpio import Archive
from bhtool.errors import Status
from bhtool.platforms import load

from tests.emulated.boot_arguments import LEAN
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


def root_file_system(file: Path, init: str) -> None:
    archive = Archive()
    for directory in ("bin", "dev", "proc"):
        archive.directory(directory)
    archive.character_device("dev/console", 5, 1)
    busybox = payloads.cached("busybox-static", load(PLATFORM).debian_architecture, "./bin/busybox", "", silent)
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
