# SPDX-License-Identifier: Apache-2.0
"""Drives Meson and Ninja: one build directory a platform, build/host for the unit tests. In a package all is built, and copied from there."""

import shutil
import subprocess
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError
from bhtool.locks import exclusive
from bhtool.payloads import Report
from bhtool.platforms import Platform

SHOWN_LINES = 40
MONITOR = "bulkhead.elf"
PRODUCTS = (MONITOR, "kernel/sandbox-kernel.elf", "tools/sdk/libbulkhead.a")  # that the tool hands on


def run(command: list[str], what: str) -> None:
    done = subprocess.run(command, cwd=paths.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-SHOWN_LINES:])
        raise BulkheadError(f"{what} failed:\n{tail}")


def build(directory: Path, options: list[str], report: Report) -> None:
    with exclusive(directory):
        if not (directory / "build.ninja").exists():
            report(f"configuring {directory.relative_to(paths.ROOT)}")
            run(["meson", "setup", str(directory), *options], f"configuring {directory.name}")
        report(f"building {directory.relative_to(paths.ROOT)}")
        run(["ninja", "-C", str(directory)], f"building {directory.name}")


def build_platform(platform: Platform, report: Report) -> Path:
    """Builds monitor and guests; the monitor's ELF file."""
    if paths.IS_PACKAGE:
        unpack(platform)
        return platform.build / MONITOR
    build(platform.build, ["--cross-file", str(platform.cross_file), f"-Dplatform={platform.board_name}"], report)
    return platform.build / MONITOR


def is_built(platform: Platform) -> bool:
    """Whether building again is a matter of seconds."""
    return paths.IS_PACKAGE or (platform.build / "build.ninja").exists()


def unpack(platform: Platform) -> None:
    """Puts what a package brings where a build would have made it."""
    with exclusive(platform.build):
        for name in PRODUCTS:
            target = platform.build / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(paths.PREBUILT / platform.board_name / name, target)


def build_host(report: Report) -> Path:
    """Builds the unit tests; their build directory."""
    directory = paths.BUILD / "host"
    build(directory, ["--native-file", str(paths.CROSS / "host.ini"), "-Dplatform=host"], report)
    return directory
