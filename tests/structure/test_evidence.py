# SPDX-License-Identifier: Apache-2.0
"""Every invariant of docs/invariants.md is enforced somewhere and tested somewhere, and no other ID is in use."""

import re
from pathlib import Path

import pytest

from tests.structure.test_layers import ROOT, tracked

ID = re.compile(r"BH-I\d(?:\.[a-z]+)?")
DOCUMENT = ROOT / "docs" / "invariants.md"
CODE = ["abi", "arch", "hal", "monitor", "tools"]
TESTS = ["tests"]


def defined() -> list[str]:
    return re.findall(r"^\| (BH-I\S+) \|", DOCUMENT.read_text(), re.MULTILINE)


def used(folders: list[str]) -> dict[str, set[Path]]:
    found: dict[str, set[Path]] = {}
    for path in tracked(*folders):
        if path != Path(__file__) and path.suffix in {".c", ".h", ".S", ".py", ".lds", ".yaml"}:
            for name in ID.findall(path.read_text()):
                found.setdefault(name, set()).add(path)
    return found


@pytest.mark.parametrize("name", defined())
def test_invariant_is_enforced_and_tested(name: str) -> None:
    assert name in used(CODE), f"{name}: no code carries it"
    assert name in used(TESTS), f"{name}: no test carries it"


def test_no_other_invariant_is_claimed() -> None:
    unknown = {name: sorted(map(str, paths)) for name, paths in used(CODE + TESTS).items() if name not in defined()}
    assert not unknown, unknown
