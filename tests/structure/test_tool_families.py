# SPDX-License-Identifier: Apache-2.0
"""What the host tool knows of a CPU family stands in one record, and nothing asks for a family by its name."""

import ast

import pytest
from bhtool.families.table import FAMILIES
from bhtool.paths import ROOT
from bhtool.platforms import load, names

TOOL = ROOT / "tools" / "bhtool"
OF_ITS_OWN = {  # what a family has there is written for it, and a family without it is refused: machine code, exceptions
    "attack/generator.py",
    "report/own_exception.py",
}


def named(text: str) -> set[str]:
    return {str(node.value) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant) and node.value in FAMILIES}


def test_nothing_else_names_a_family() -> None:
    files = {str(path.relative_to(TOOL)): path.read_text() for path in TOOL.rglob("*.py") if path.parent.name != "families"}
    found = {file for file, text in files.items() if named(text)}
    assert found == OF_ITS_OWN


def test_a_name_is_found() -> None:
    assert named("def is_pc(arch):\n    return arch == 'x86_64'\n") == {"x86_64"}


@pytest.mark.parametrize("name", names())
def test_a_platform_has_its_family(name: str) -> None:
    platform = load(name)
    assert platform.backend in FAMILIES[platform.arch].monitor.backends
    assert platform.cross_file.is_file()
