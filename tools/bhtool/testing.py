# SPDX-License-Identifier: Apache-2.0
"""Runs the test programs and adds up what they say, through the JUnit files that Meson and pytest write."""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

from bhtool import paths
from bhtool.children import owned
from bhtool.errors import BulkheadError, Status

STEP_LIMIT_SECONDS = 3600
NO_TESTS_COLLECTED = 5  # pytest's exit status


@dataclass
class Tally:
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    suites: list[ET.Element] = field(default_factory=list)

    def add_junit(self, path: Path) -> None:
        """Every test case of a file; one is failed if it holds a failure or an error."""
        if not path.exists():
            return
        for suite in ET.parse(path).getroot().iter("testsuite"):
            self.suites.append(suite)
            for case in suite.iter("testcase"):
                self._add_case(case)

    def _add_case(self, case: ET.Element) -> None:
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            self.failed.append(name)
        elif skip is not None:
            self.skipped.append(f"{name}: {skip.get('message') or 'no reason given'}")
        else:
            self.passed += 1

    def fail(self, name: str) -> None:
        """Something that has no test case of its own went wrong."""
        self.failed.append(name)

    def write_junit(self, path: Path) -> None:
        root = ET.Element("testsuites", name="bulkhead")
        root.extend(self.suites)
        ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)

    def last_line(self) -> str:
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


@dataclass(frozen=True)
class Selection:
    quick: bool = False
    platform: str | None = None
    word: str | None = None


def step(command: list[str], what: str, environment: dict[str, str] | None = None) -> int:
    """Runs with its output shown; its exit status."""
    try:
        return subprocess.run(owned(command), cwd=paths.ROOT, env=environment, timeout=STEP_LIMIT_SECONDS, check=False).returncode
    except subprocess.TimeoutExpired as expired:
        raise BulkheadError(f"{what} ran over {STEP_LIMIT_SECONDS} s", Status.TIME_LIMIT) from expired


def meson_names(build: Path, word: str | None) -> list[str]:
    """Names of the unit test programs that contain the word."""
    listed = subprocess.run(["meson", "test", "-C", str(build), "--no-rebuild", "--list"], capture_output=True, text=True, check=True)
    found = [re.sub(r"^.* / ", "", line).strip() for line in listed.stdout.splitlines()]
    return [name for name in found if name and (word is None or word in name)]


def run_meson(build: Path, selection: Selection, tally: Tally) -> None:
    names = meson_names(build, selection.word)
    if not names:
        return
    junit = build / "meson-logs" / "testlog.junit.xml"
    junit.unlink(missing_ok=True)
    status = step(["meson", "test", "-C", str(build), "--no-rebuild", "--print-errorlogs", *names], "the unit tests")
    tally.add_junit(junit)
    if status and not tally.failed:
        tally.fail(f"meson test: exit status {status}")


def run_pytest(folders: list[Path], selection: Selection, tally: Tally, workers: int) -> None:
    present = [str(folder.relative_to(paths.ROOT)) for folder in folders if any(folder.glob("**/test_*.py"))]
    if not present:
        return
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-o", "junit_logging=no", *present, *pytest_options(selection, workers)]
    failed_before = len(tally.failed)
    with tempfile.TemporaryDirectory() as directory:
        junit = Path(directory) / "junit.xml"
        status = step([*command, f"--junit-xml={junit}"], "pytest", {**os.environ, "PYTHONPATH": str(paths.ROOT / "tools")})
        tally.add_junit(junit)
    if status not in (0, NO_TESTS_COLLECTED) and len(tally.failed) == failed_before:
        tally.fail(f"pytest {' '.join(present)}: exit status {status}")


def pytest_options(selection: Selection, workers: int) -> list[str]:
    options = ["-n", str(workers), "--dist", "loadgroup"] if workers > 1 else []
    if selection.quick:
        options.append("--quick")
    if selection.platform:
        options.append(f"--platform={selection.platform}")
    if selection.word:
        options += ["-k", selection.word]
    return options
