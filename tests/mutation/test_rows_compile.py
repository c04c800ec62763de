# SPDX-License-Identifier: Apache-2.0
"""BH-E1.mistakes. Every mistake of test_machine_mutations.py in C is one that the compiler lets pass.

Of those rows only a share runs each time; a row that its file has outgrown shows here.
"""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from bhtool.image.build import build_platform
from bhtool.platforms import Platform, load

from tests.emulated.scene import silent
from tests.mutation.machine_mutations import MUTATIONS
from tests.mutation.mutation import ROOT, Mutation

BROKEN: dict[str, list[Mutation]] = {}
for row in MUTATIONS:
    BROKEN.setdefault(row.platform, []).extend(one for one in (row, *row.beside) if one.file.endswith(".c"))


def commands(platform: Platform) -> dict[str, tuple[str, list[str]]]:
    """How each source is compiled, but for the outcome and the source itself, and where."""
    entries = json.loads((platform.build / "compile_commands.json").read_text())
    words = {entry["file"].removeprefix("../../"): (entry["directory"], shlex.split(entry["command"])) for entry in entries}
    return {source: (folder, command[: command.index("-MD")]) for source, (folder, command) in words.items()}


def complaint(mutation: Mutation, folder: str, command: list[str], broken: Path) -> str:
    broken.write_text(mutation.text())
    beside = f"-I{(ROOT / mutation.file).parent}"
    said = subprocess.run([*command, beside, "-fsyntax-only", broken], cwd=folder, capture_output=True, text=True, check=False)
    return f"{mutation.what}: {said.stderr}" if said.returncode else ""


@pytest.mark.parametrize("name", BROKEN)
def test_mistakes_compile(name: str, tmp_path: Path) -> None:
    platform = load(name)
    build_platform(platform, silent)
    known = commands(platform)
    complaints = (complaint(one, *known[one.file], tmp_path / "broken.c") for one in BROKEN[name])
    assert not list(filter(None, complaints))
