# SPDX-License-Identifier: Apache-2.0
"""`bulkhead debug` as a user has it: gdb stops in the sandbox it was asked for and in no other, with names, callers and memory."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.errors import Status

LIMIT = 300
NATIVE = paths.PARTITIONS / "native.dts"
PLATFORMS = ["qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm"]
pytestmark = pytest.mark.slow


def partition(folder: Path) -> Path:
    """Four times the same program; `east`, on core 1, ends with a crash."""
    opening = "\t\teast: east {\n"
    text = NATIVE.read_text()
    assert opening in text
    file = folder / "crash.dts"
    file.write_text(text.replace(opening, f'{opening}\t\t\tbootargs = "ticks=3 write=0x70000000";\n'))
    return file


def debug(folder: Path, platform: str, *commands: str, breaks: str = "") -> str:
    words = [sys.executable, "-m", "bhtool", "debug", "east", "--platform", platform, "--partition", str(partition(folder))]
    words += ["--break", breaks] if breaks else []
    for command in commands:
        words += ["--command", command]
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")}
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, env=environment, check=False)
    assert done.returncode == Status.GOOD, done.stdout + done.stderr
    return done.stdout + done.stderr  # where gdb puts what the sandbox says


@pytest.mark.parametrize("platform", PLATFORMS)
def test_it_stops_in_its_sandbox_alone(platform: str, tmp_path: Path) -> None:
    """One boot: breakpoint, callers, threads, global, memory, steps, a call of the monitor, and the crash at the end."""
    shown = debug(
        tmp_path,
        platform,
        "backtrace 2",
        "info threads",
        "print info->name",
        "x/1wx info",
        "print beat_event",
        "stepi",
        "step",
        "step",
        "finish",
        "delete",
        "tbreak info_call_monitor",
        "continue",
        "print info->name",
        "next",
        "next",
        "finish",
        "continue",
        "backtrace 3",
        breaks="heartbeat_start",
    )
    assert shown.index("Breakpoint 1, heartbeat_start") < shown.index("kernel_main")
    assert re.search(r"#1 .*kernel_main .*main\.c:\d+", shown)
    assert "core 1 of east, guest" in shown
    assert "Thread 2" not in shown
    assert shown.count('= "east"') == 2, "stopped in another sandbox"
    assert "0x4e494842" in shown  # BH_INFO_MAGIC
    assert "timer_cancel (event=" in shown
    assert "Temporary breakpoint" in shown
    assert "east │ alive" in shown
    assert "west │" not in shown
    assert "SIGSEGV" in shown
    assert re.search(r"#0 .*run_write .*commands\.c:\d+", shown)


@pytest.mark.parametrize("platform", ["bochs-vtx"])
def test_without_a_debuggers_port_the_crash_record_is_shown(platform: str, tmp_path: Path) -> None:
    shown = debug(tmp_path, platform, "backtrace 2", "print info->name", "x/1wx info", "x/1i $pc")
    assert "parked: write at memory 0x70000000" in shown
    assert re.search(r"run_write .*commands\.c:\d+", shown)
    assert '= "east"' in shown
    assert "0x4e494842" in shown
    assert re.search(r"<run_write\+\d+>:\s+mov", shown)


def test_a_sandbox_that_is_not_there_is_named() -> None:
    words = [sys.executable, "-m", "bhtool", "debug", "nobody", "--partition", str(NATIVE)]
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")}
    done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, env=environment, check=False)
    assert done.returncode == Status.USAGE
    assert "has no sandbox `nobody`; there are" in done.stderr
    assert "`north`, `east`, `south`, `west`" in done.stderr
