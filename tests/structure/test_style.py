# SPDX-License-Identifier: Apache-2.0
"""C is clean by .clang-format and .clang-tidy."""

import subprocess

import pytest

from tests.structure.test_layers import tracked
from tests.structure.tidy import PLATFORMS, new_on

LAYERS = ("arch", "hal", "monitor", "kernel", "tests/guests/probe")
FIRST, AGAIN = False, True


def test_c_is_formatted() -> None:
    sources = [
        str(path) for path in tracked("abi", "arch", "hal", "monitor", "kernel", "platforms", "tests") if path.suffix in {".c", ".h"}
    ]
    done = subprocess.run(["clang-format-19", "--dry-run", "-Werror", *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


ROWS = [pytest.param(platform, FIRST, marks=pytest.mark.slow, id=platform) for platform in PLATFORMS]
ROWS += [pytest.param(platform, AGAIN, marks=pytest.mark.long, id=f"{platform}-again") for platform in PLATFORMS[1:]]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(("platform", "again"), ROWS)
def test_c_is_tidy(platform: str, again: bool, layer: str) -> None:
    """Every file, for the first processor that it is compiled for; `again`: for each of the others, with the first of its boards."""
    chosen = [unit for unit, seen in new_on(platform) if seen is again and unit.source.startswith(f"{layer}/")]
    wrong = "".join(unit.complaints() for unit in chosen if unit.source.endswith(".c"))
    assert not wrong, wrong
