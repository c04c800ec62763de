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
from pathlib import Path

import pytest
from bhtool.errors import BulkheadError
from bhtool.machine import require_emulator
from bhtool.platforms import load

from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.machine_mutations import MUTATIONS
from tests.mutation.mutation import ROOT
from tests.mutation.one_case import CASE_FAILS

TIME_LIMIT_SECONDS = 180

pytestmark = pytest.mark.slow


def sources() -> list[str]:
    """Every file of the project, committed or not."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return [name for name in listed if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("tree")
    for name in sources():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    return copy


def run_case(tree: Path, platform: str, case: str) -> subprocess.CompletedProcess[str]:
    """Builds what is out of date in the tree and runs the case there."""
    command = [sys.executable, "-m", "tests.mutation.one_case", platform, case]
    environment = {**os.environ, "PYTHONPATH": f"{tree}:{tree / 'tools'}"}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=TIME_LIMIT_SECONDS, check=False)


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


@pytest.mark.parametrize(("platform", "case"), [pytest.param(*row, id="-".join(row), marks=on_one_worker(row[0])) for row in CONTROLS])
def test_without_a_mutation_all_is_well(platform: str, case: str, tree: Path) -> None:
    done = run_case(tree, platform, case)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("platform", "mutation"),
    [pytest.param(one.platform, one, id=f"{one.platform}-{one.what}", marks=on_one_worker(one.platform)) for one in MUTATIONS],
)
def test_mutation_is_caught(platform: str, mutation: MachineMutation, tree: Path) -> None:
    file = tree / mutation.file
    sound = file.read_text()
    file.write_text(mutation.text(tree))
    try:
        done = run_case(tree, platform, mutation.caught_by)
    finally:
        file.write_text(sound)
    assert done.returncode == CASE_FAILS, f"{mutation.caught_by} does not notice\n{done.stdout}{done.stderr}"
    assert re.search(mutation.shows, done.stdout), f"{mutation.caught_by} fails for another reason\n{done.stdout}"
