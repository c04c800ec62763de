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
ONE_READER, TWO_READERS, TWO_LIVES = "READERS=1 DEATHS=2 WRITES=4 READS=3", "READERS=2 DEATHS=0", "READERS=2 DEATHS=1 WRITES=3 READS=1"
ALL = {"channel_latest": (ONE_READER, TWO_READERS, TWO_LIVES), "channel_ring": ("",)}
WRONG = {
    "channel_latest": {
        "WRONG": TWO_READERS,
        "BACK": TWO_READERS,
        "FEW": TWO_READERS,
        "TWICE": ONE_READER,
        "OTHERS": TWO_LIVES,
        "UNSEEN": TWO_LIVES,
    },
    "channel_ring": {"WRONG": "", "UNSAID": "", "LATE": "", "EARLY": ""},
}


def row(model: str, defines: str) -> object:
    return pytest.param(model, defines, id=f"{model}-{defines}", marks=inputs([f"tests/proof/{model}.pml"], [__file__]))


MODELS = [row(model, defines) for model, several in ALL.items() for defines in several]
MISTAKES = [row(model, f"{defines} {mistake}") for model, mistakes in WRONG.items() for mistake, defines in mistakes.items()]
pytestmark = pytest.mark.long


def errors_of(model: str, folder: Path, defines: str) -> int:
    """Of all orders of the model."""

    def run(*command: str) -> str:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=True).stdout

    run("spin", "-a", *(f"-D{one}" for one in defines.split()), str(ROOT / f"tests/proof/{model}.pml"))
    run("clang-19", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=3000", "pan.c", "-o", "pan")
    told = run("./pan", "-m200000", "-E")
    assert "max search depth too small" not in told
    assert "Search not completed" not in told or "errors: 1" in told
    return int(told.split("errors: ")[1].split()[0])


@pytest.mark.parametrize(("model", "defines"), MODELS)
def test_it_is_so_in_all_orders(model: str, defines: str, tmp_path: Path) -> None:
    assert errors_of(model, tmp_path, defines) == 0


@pytest.mark.parametrize(("model", "defines"), MISTAKES)
def test_a_mistake_is_found(model: str, defines: str, tmp_path: Path) -> None:
    assert errors_of(model, tmp_path, defines) == 1
