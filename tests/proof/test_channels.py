# SPDX-License-Identifier: Apache-2.0
"""BH-F6.messages. Models of a channel's ends, by Spin: all orders of their accesses to shared words, as if memory were sequentially consistent.

Orders of memory that tests/unit/channel_faults_test.c has in literal words are why it is.
"""

import subprocess
from pathlib import Path

import pytest
from bhtool.paths import ROOT

from tests.touched import inputs

LIMIT_SECONDS = 300
WRONG = {"channel_latest": ["WRONG"], "channel_ring": ["WRONG", "UNSAID", "LATE", "EARLY"]}
MODELS = [pytest.param(name, id=name, marks=inputs([f"tests/proof/{name}.pml"], [__file__])) for name in WRONG]
MISTAKES = [
    pytest.param(name, mistake, id=f"{name}-{mistake}", marks=inputs([f"tests/proof/{name}.pml"], [__file__]))
    for name, mistakes in WRONG.items()
    for mistake in mistakes
]
pytestmark = pytest.mark.long


def errors_of(model: str, folder: Path, *options: str) -> int:
    """Of all orders of the model."""

    def run(*command: str) -> str:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=True).stdout

    run("spin", "-a", *options, str(ROOT / f"tests/proof/{model}.pml"))
    run("clang-19", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=3000", "pan.c", "-o", "pan")
    told = run("./pan", "-m200000", "-E")
    assert "max search depth too small" not in told
    return int(told.split("errors: ")[1].split()[0])


@pytest.mark.parametrize("model", MODELS)
def test_it_is_so_in_all_orders(model: str, tmp_path: Path) -> None:
    assert errors_of(model, tmp_path) == 0


@pytest.mark.parametrize(("model", "mistake"), MISTAKES)
def test_a_mistake_is_found(model: str, mistake: str, tmp_path: Path) -> None:
    assert errors_of(model, tmp_path, f"-D{mistake}") == 1
