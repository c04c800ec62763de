# SPDX-License-Identifier: Apache-2.0
"""Runs the test programs: Meson those in C, pytest the others."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from bhtool import paths
from bhtool.children import owned
from bhtool.errors import BulkheadError, Status
from bhtool.testing.cost import Cost, used_so_far
from bhtool.testing.selection import Selection
from bhtool.testing.tally import Tally

STEP_LIMIT_SECONDS = 3600
LONG_STEP_LIMIT_SECONDS = 4 * STEP_LIMIT_SECONDS
SHOWN = "BULKHEAD_SHOWN"  # in the environment: a folder for what this run has shown, tests/emulated/shown.py
NO_TESTS_COLLECTED = 5  # pytest's exit status


def step(command: list[str], what: str, limit: int = STEP_LIMIT_SECONDS, environment: dict[str, str] | None = None) -> int:
    """Runs with its output shown; its exit status."""
    try:
        return subprocess.run(owned(command), cwd=paths.ROOT, env=environment, timeout=limit, check=False).returncode
    except subprocess.TimeoutExpired as expired:
        raise BulkheadError(f"{what} ran over {limit} s", Status.TIME_LIMIT) from expired


def meson_names(build: Path, selection: Selection) -> list[str]:
    """Names of the unit test programs that contain the word; a quick run leaves the suite `slow` out."""
    suites = ["--no-suite", "slow"] if selection.quick else []
    command = ["meson", "test", "-C", str(build), "--no-rebuild", "--list", *suites]
    listed, word = subprocess.run(command, capture_output=True, text=True, check=True), selection.word
    found = [re.sub(r"^.* / ", "", line).strip() for line in listed.stdout.splitlines()]
    return [name for name in found if name and (word is None or word in name)]


def run_meson(build: Path, selection: Selection, tally: Tally) -> None:
    names = meson_names(build, selection)
    if not names:
        return
    log = build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    before = used_so_far()
    status = step(["meson", "test", "-C", str(build), "--no-rebuild", "--print-errorlogs", *names], "the unit tests")
    tally.add_meson(log)
    tally.costs.append(Cost("unit tests in C", "unit tests in C", used_so_far() - before))
    if status and not tally.failed:
        tally.fail(f"meson test: exit status {status}")


def run_pytest(folders: list[Path], selection: Selection, tally: Tally, workers: int, claims: Path | None = None) -> None:
    """`claims`: where what each test is evidence for is written, of those left out, too."""
    present = [str(folder.relative_to(paths.ROOT)) for folder in folders if any(folder.glob("**/test_*.py"))]
    if not present:
        return
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-o", "junit_logging=no", *present, *pytest_options(selection, workers)]
    failed_before = len(tally.failed)
    limit = LONG_STEP_LIMIT_SECONDS if selection.long else STEP_LIMIT_SECONDS
    with tempfile.TemporaryDirectory() as directory:
        junit = Path(directory) / "junit.xml"
        environment = {**os.environ, "PYTHONPATH": str(paths.ROOT / "tools")}
        command += [f"--claims={claims}"] if claims else []
        status = step([*command, f"--junit-xml={junit}"], "pytest", limit, environment)
        tally.add_junit(junit)
    if status not in (0, NO_TESTS_COLLECTED) and len(tally.failed) == failed_before:
        tally.fail(f"pytest {' '.join(present)}: exit status {status}")


def pytest_options(selection: Selection, workers: int) -> list[str]:
    options = ["-n", str(workers), "--dist", "loadgroup"] if workers > 1 else []
    if selection.quick:
        options.append("--quick")
    if selection.long:
        options += ["--long", "--no-loadscope-reorder"]  # mutations last: the table of cases has shown their controls by then
    if selection.share is not None:
        options.append(f"--share={selection.share}")
    if selection.touched_until is not None:
        options += ["--touched", f"--until={selection.touched_until}", "--no-loadscope-reorder"]
    if selection.platform:
        options.append(f"--platform={selection.platform}")
    if selection.word:
        options += ["-k", selection.word]
    return options
