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


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_c_is_tidy(platform: str) -> None:
    build = ROOT / "build" / platform
    commands = json.loads((build / "compile_commands.json").read_text())
    sources = sorted({entry["file"].removeprefix("../../") for entry in commands})
    chosen = [source for source in sources if source.startswith(LAYERS) and source.endswith(".c")]
    done = subprocess.run(["clang-tidy-19", "--quiet", "-p", str(build), *chosen], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
