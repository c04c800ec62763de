# SPDX-License-Identifier: Apache-2.0
"""C is clean by .clang-format and .clang-tidy."""

import json
import subprocess

import pytest

from tests.structure.test_layers import ROOT, tracked

PLATFORMS = ["qemu-svm", "bochs-vtx", "qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7"]
LAYERS = ("arch/", "hal/", "monitor/", "kernel/")


def test_c_is_formatted() -> None:
    sources = [
        str(path) for path in tracked("abi", "arch", "hal", "monitor", "kernel", "platforms", "tests") if path.suffix in {".c", ".h"}
    ]
    done = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def sources(platform: str) -> set[tuple[str, str]]:
    """What is compiled for it: the processor's name, and the file."""
    commands = json.loads((ROOT / "build" / platform / "compile_commands.json").read_text())
    return {(entry["command"].split("--target=", 1)[1].split()[0], entry["file"].removeprefix("../../")) for entry in commands}


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_c_is_tidy(platform: str) -> None:
    """Every file, once for each architecture that it is compiled for: with the first of its boards."""
    earlier = set[tuple[str, str]]().union(*map(sources, PLATFORMS[: PLATFORMS.index(platform)]))
    new = {source for _, source in sources(platform) - earlier}
    chosen = sorted(source for source in new if source.startswith(LAYERS) and source.endswith(".c"))
    command = ["clang-tidy-19", "--quiet", "-p", f"build/{platform}", *chosen]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
