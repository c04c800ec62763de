# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in the running monitor: each must make the emulated case that guards against it fail, and show what it lets through.

A copy of the source tree is built without a mistake first, and every case named below must pass there; then with one mistake
at a time. Only what a mistake touches is compiled again.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.errors import BulkheadError
from bhtool.machine import require_emulator
from bhtool.platforms import load

from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.machine_mutations import MUTATIONS
from tests.mutation.mutation import ROOT
from tests.mutation.one_case import CASE_FAILS, ENDED

pytestmark = pytest.mark.long


def sources() -> list[str]:
    """Every file of the project, committed or not."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in listed if (ROOT / name).is_file()]


@dataclass(frozen=True)
class Tree:
    """A copy of the sources, and the process in it that tries cases there."""

    path: Path
    cases: subprocess.Popen[str]

    def run_case(self, platform: str, case: str) -> tuple[int, str]:
        """Builds what is out of date and runs the case: its status, and what it said."""
        assert self.cases.stdin is not None
        assert self.cases.stdout is not None
        print(platform, case, file=self.cases.stdin, flush=True)
        said: list[str] = []
        for line in self.cases.stdout:
            if line.startswith(ENDED):
                return int(line.removeprefix(ENDED)), "".join(said)
            said.append(line)
        return self.cases.wait(), "".join(said)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    copy = tmp_path_factory.mktemp("tree")
    for name in sources():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    budget = copy / "arch" / "resident_budget.lds"  # a mistake may make a monitor larger than it should be
    budget.write_text(re.sub(r"\d+;", "16384;", budget.read_text()))
    command = [sys.executable, "-m", "tests.mutation.one_case"]
    environment = {**os.environ, "PYTHONPATH": f"{copy}:{copy / 'tools'}"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=copy, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT) as cases:
        yield Tree(copy, cases)


@pytest.fixture(autouse=True)
def emulator(platform: str) -> None:
    try:
        require_emulator(load(platform))
    except BulkheadError as missing:
        pytest.skip(str(missing))


def on_one_worker(platform: str) -> pytest.MarkDecorator:
    """All of a platform, so that the tree is built once."""
    return pytest.mark.xdist_group(f"mutations-{platform}")


CONTROLS = sorted({(one.platform, one.caught_by) for one in MUTATIONS})
IN_ORDER = sorted(
    MUTATIONS, key=lambda one: (one.platform, one.file)
)  # so that a file is compiled once with each mistake, and not without in between


@pytest.mark.parametrize(("platform", "case"), [pytest.param(*row, id="-".join(row), marks=on_one_worker(row[0])) for row in CONTROLS])
def test_without_a_mutation_all_is_well(platform: str, case: str, tree: Tree) -> None:
    status, said = tree.run_case(platform, case)
    assert status == 0, said


@pytest.mark.parametrize(
    ("platform", "mutation"),
    [pytest.param(one.platform, one, id=f"{one.platform}-{one.what}", marks=on_one_worker(one.platform)) for one in IN_ORDER],
)
def test_mutation_is_caught(platform: str, mutation: MachineMutation, tree: Tree) -> None:
    file = tree.path / mutation.file
    sound = file.read_text()
    file.write_text(mutation.text(tree.path))
    try:
        status, said = tree.run_case(platform, mutation.caught_by)
    finally:
        file.write_text(sound)
    assert status == CASE_FAILS, f"{mutation.caught_by} does not notice\n{said}"
    assert re.search(mutation.shows, said), f"{mutation.caught_by} fails for another reason\n{said}"
