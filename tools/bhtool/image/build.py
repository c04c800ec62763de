# SPDX-License-Identifier: Apache-2.0
"""Drives Meson and Ninja: one build directory a platform, build/host for the unit tests. In a package all is built, and copied from there."""

import json
import shutil
import subprocess
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.image.payloads import Report
from bhtool.locks import LOCK, exclusive
from bhtool.platforms import Platform

SHOWN_LINES = 40
OPTIONS = "bulkhead-options.json"  # that a build directory was set up with
MONITOR = "bulkhead.elf"
KERNEL = "kernel/sandbox-kernel.elf"
PROBE = "tests/guests/probe.elf"  # what tests, benchmarks and campaigns run in sandboxes: a package has none
STORM = "kernel/dma-storm.elf"  # a hostile neighbour
PROGRAMS = (KERNEL, STORM, "tools/sdk/libbulkhead.a")  # where the family has a sandbox kernel
PRODUCTS = (MONITOR, *PROGRAMS)  # that the tool hands on


def products_of(platform: Platform) -> tuple[str, ...]:
    return PRODUCTS if FAMILIES[platform.arch].programs.sandbox_kernel else (MONITOR,)


def run(command: list[str], what: str) -> None:
    done = subprocess.run(command, cwd=paths.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-SHOWN_LINES:])
        raise BulkheadError(f"{what} failed:\n{tail}")


def was_elsewhere(directory: Path) -> bool:
    """Whether Meson set it up for another path: clone or folder were moved or copied, and Ninja would regenerate the old place, again and again."""
    try:
        known = json.loads((directory / "meson-info" / "meson-info.json").read_text(encoding="utf-8"))["directories"]
        places = [Path(known[name]).resolve() for name in ("source", "build")]
    except (OSError, ValueError, KeyError, TypeError):
        return False  # nothing that Meson has set up: it says itself what it lacks
    return places != [paths.ROOT.resolve(), directory.resolve()]


def has_other_options(directory: Path, options: list[str]) -> bool:
    """Whether Meson set it up with others. Meson itself gives an option whose type has changed its default, without a word."""
    try:
        return bool(json.loads((directory / OPTIONS).read_text(encoding="utf-8")) != options)
    except (OSError, ValueError):
        return True


def empty(directory: Path) -> None:
    """Takes everything out but the lock, which somebody may be waiting for."""
    for one in directory.iterdir():
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one)
        elif one.name != LOCK:
            one.unlink()


def build(directory: Path, options: list[str], report: Report) -> None:
    with exclusive(directory):
        if was_elsewhere(directory):
            report(f"{directory.relative_to(paths.ROOT)} was made for another path; making it anew")
            empty(directory)
        if not (directory / "build.ninja").exists() or has_other_options(directory, options):
            empty(directory)  # Meson takes what an interrupted start left for set up, and writes no rules
            report(f"configuring {directory.relative_to(paths.ROOT)}")
            run(["meson", "setup", str(directory), *options], f"configuring {directory.name}")
            (directory / OPTIONS).write_text(json.dumps(options), encoding="utf-8")
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
        for name in products_of(platform):
            target = platform.build / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(paths.PREBUILT / platform.board_name / name, target)


def build_host(report: Report) -> Path:
    """Builds the unit tests; their build directory."""
    directory = paths.BUILD / "host"
    build(directory, ["--native-file", str(paths.CROSS / "host.ini"), "-Dplatform=host"], report)
    return directory
