# SPDX-License-Identifier: Apache-2.0
"""The Python environment build/venv: pinned packages from PyPI beside the Debian ones."""

import hashlib
import importlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.locks import exclusive
from bhtool.provision.apt import bytes_of
from bhtool.provision.progress import OneLine, Report, Steps, megabytes
from bhtool.terminal import tty

SIZE = "about 45 MB to download"
PLOT_SIZE = "about 45 MB more"
PLOT_STAMP = "plot-stamp"
LOOK_SECONDS = 1.0
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
    with (
        closing(packages),
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            packages.line(line)
            last = line.strip() or last
    if process.returncode:
        raise BulkheadError(f"the Python environment cannot be made: {last}", Status.MISSING)


def installed() -> int:
    """Packages in build/venv that are whole: pip writes who installed one when it has compiled it."""
    return sum(1 for _ in paths.VENV.glob("lib/python3*/site-packages/*.dist-info/INSTALLER"))


class Installing:
    """Shows that pip is at work where it is silent, for a minute and more: how many packages it has installed, and for how long."""

    def __init__(self, total: int, report: Report) -> None:
        self._total, self._report = total, report
        self._before, self._begun = installed(), time.monotonic()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        if tty.can_be_live():
            self._tell()
        else:
            report(f"installing {total} packages")
        self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _follow(self) -> None:
        while not self._is_over.wait(LOOK_SECONDS):
            if tty.can_be_live():
                self._tell()

    def _tell(self) -> None:
        done, seconds = installed() - self._before, time.monotonic() - self._begun
        self._report(f"installing {self._total} packages: {done} of {self._total}, {seconds:.0f} s")


class Packages:
    """Counts packages and bytes in the output of pip."""

    def __init__(self, total: int, report: Report) -> None:
        self._total, self._steps, self._report = max(total, 1), Steps("Python packages", report), report
        self._count, self._bytes = 0, 0
        self._installing: Installing | None = None

    def line(self, line: str) -> None:
        if found := re.match(r"\s*Downloading \S+ \(([\d.]+ [kMG]?B)\)", line):
            self._bytes += bytes_of(found[1])
        if line.startswith("Collecting "):
            self._count += 1
            self._tell(self._count / (self._total + 1))
        if line.startswith("Installing ") and self._installing is None:
            self._tell(1.0)
            self._installing = Installing(self._total, self._report)

    def _tell(self, share: float) -> None:
        self._steps(share, f"{self._count} of {self._total}, {megabytes(self._bytes)} MB")

    def close(self) -> None:
        """pip has ended."""
        if self._installing is not None:
            self._installing.end()


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
