# SPDX-License-Identifier: Apache-2.0
"""The Python environment build/venv: pinned packages from PyPI beside the Debian ones."""

import hashlib
import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.locks import exclusive
from bhtool.provision.apt import bytes_of
from bhtool.provision.progress import OneLine, Report, Steps, megabytes

SIZE = "about 45 MB to download"
PLOT_SIZE = "about 45 MB more"
PLOT_STAMP = "plot-stamp"
MINIMUM = (3, 11)


def base_python() -> Path:
    """Debian's own Python where there is one: only that one sees Debian's python3-libfdt."""
    debian = Path("/usr/bin/python3")
    return debian if debian.exists() else Path(sys.executable)


def shown_venv() -> str:
    return str(paths.VENV) if paths.IS_PACKAGE else "build/venv"


def stamp_text() -> str:
    python = base_python().resolve()
    text = f"{paths.VENV} {python} {paths.REQUIREMENTS.read_text(encoding='utf-8')}"
    return hashlib.sha256(text.encode()).hexdigest()


def plot_stamp_text() -> str:
    return hashlib.sha256(paths.PLOT_REQUIREMENTS.read_bytes()).hexdigest()


def is_stamped(name: str, text: str) -> bool:
    stamp = paths.VENV / name
    return stamp.exists() and stamp.read_text(encoding="ascii") == text


def venv_ready() -> bool:
    return is_stamped("stamp", stamp_text())


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()] or ["no reason given"]
        raise BulkheadError(f"the Python environment cannot be made: {lines[-1].strip()}", Status.MISSING)


def package_count(requirements: Path) -> int:
    lines = requirements.read_text(encoding="utf-8").splitlines()
    return sum(1 for line in lines if line and not line.startswith("#"))


def install(requirements: Path, report: Report) -> None:
    """Into build/venv: exactly what the file names. `report` hears of each package and of the bytes it has."""
    pip = ["-P", "-m", "pip", "install", "--no-input", "--no-deps", "--disable-pip-version-check", "--progress-bar", "off", "--no-color"]
    command = [str(paths.VENV / "bin" / "python"), *pip, "--requirement", str(requirements)]
    packages, last = Packages(package_count(requirements), report), "no reason given"
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        assert process.stdout is not None
        for line in process.stdout:
            packages.line(line)
            last = line.strip() or last
    if process.returncode:
        raise BulkheadError(f"the Python environment cannot be made: {last}", Status.MISSING)


class Packages:
    """Counts packages and bytes in the output of pip."""

    def __init__(self, total: int, report: Report) -> None:
        self._total, self._steps = max(total, 1), Steps("Python packages", report)
        self._count, self._bytes = 0, 0

    def line(self, line: str) -> None:
        if found := re.match(r"\s*Downloading \S+ \(([\d.]+ [kMG]?B)\)", line):
            self._bytes += bytes_of(found[1])
        if line.startswith("Collecting "):
            self._count += 1
        if line.startswith(("Collecting ", "Installing ")):
            self._steps(self._count / (self._total + 1), f"{self._count} of {self._total}, {megabytes(self._bytes)} MB")
        if line.startswith("Successfully installed"):
            self._steps(1.0, f"{self._count} of {self._total}, {megabytes(self._bytes)} MB")


def ensure_venv() -> None:
    if venv_ready():
        return
    with exclusive(paths.BUILD):
        if not venv_ready():
            make_venv()


def make_venv() -> None:
    if sys.version_info < MINIMUM:
        raise BulkheadError("Python 3.11 or newer is needed", Status.MISSING)
    if paths.VENV.is_symlink():
        raise BulkheadError(f"{shown_venv()} is a link, and making it anew would empty what it points to: remove the link", Status.USAGE)
    count, has_plots = package_count(paths.REQUIREMENTS), any(paths.VENV.glob("lib/python3*/site-packages/matplotlib"))
    report = OneLine()
    report(f"Python environment {shown_venv()}, {count} packages from PyPI: {SIZE}")
    run(base_python(), "-P", "-m", "venv", "--system-site-packages", "--clear", paths.VENV)
    install(paths.REQUIREMENTS, report)
    report.end()
    (paths.VENV / "stamp").write_text(stamp_text(), encoding="ascii")
    if has_plots:  # whoever has drawn once goes on to
        install_plotting(report)
        report.end()


def ensure_plotting(report: Callable[[str], None]) -> None:
    """What few runs need is installed when the first of them asks, and when its list has changed."""
    with exclusive(paths.BUILD):
        if not is_stamped(PLOT_STAMP, plot_stamp_text()):
            install_plotting(report)
            importlib.invalidate_caches()


def install_plotting(report: Callable[[str], None]) -> None:
    report(f"what plots are drawn with: {package_count(paths.PLOT_REQUIREMENTS)} packages from PyPI, {PLOT_SIZE}")
    install(paths.PLOT_REQUIREMENTS, report)
    (paths.VENV / PLOT_STAMP).write_text(plot_stamp_text(), encoding="ascii")
