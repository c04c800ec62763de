# SPDX-License-Identifier: Apache-2.0
"""The Python environment build/venv: pinned packages from PyPI beside the Debian ones."""

import hashlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.locks import exclusive

SIZE = "about 45 MB to download"
PLOT_SIZE = "about 45 MB more"
MINIMUM = (3, 11)


def base_python() -> Path:
    """Debian's own Python where there is one: only that one sees Debian's python3-libfdt."""
    debian = Path("/usr/bin/python3")
    return debian if debian.exists() else Path(sys.executable)


def stamp_text() -> str:
    python = base_python().resolve()
    text = f"{paths.VENV} {python} {paths.REQUIREMENTS.read_text(encoding='utf-8')}"
    return hashlib.sha256(text.encode()).hexdigest()


def venv_ready() -> bool:
    stamp = paths.VENV / "stamp"
    return stamp.exists() and stamp.read_text(encoding="ascii") == stamp_text()


def run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()] or ["no reason given"]
        raise BulkheadError(f"the Python environment cannot be made: {lines[-1].strip()}", Status.MISSING)


def package_count(requirements: Path) -> int:
    lines = requirements.read_text(encoding="utf-8").splitlines()
    return sum(1 for line in lines if line and not line.startswith("#"))


def install(requirements: Path) -> None:
    """Into build/venv: exactly what the file names."""
    pip = ["-m", "pip", "install", "--quiet", "--no-input", "--no-deps", "--disable-pip-version-check"]
    run(paths.VENV / "bin" / "python", *pip, "--requirement", requirements)


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
        raise BulkheadError("build/venv is a link, and making it anew would empty what it points to: remove the link", Status.USAGE)
    count = package_count(paths.REQUIREMENTS)
    print(f"Making the Python environment build/venv: {count} packages from PyPI, {SIZE} ...", flush=True)
    run(base_python(), "-m", "venv", "--system-site-packages", "--clear", paths.VENV)
    install(paths.REQUIREMENTS)
    (paths.VENV / "stamp").write_text(stamp_text(), encoding="ascii")


def ensure_plotting(report: Callable[[str], None]) -> None:
    """What few runs need is installed when the first of them asks."""
    if importlib.util.find_spec("matplotlib") is None:
        report(f"installing what plots are drawn with: {package_count(paths.PLOT_REQUIREMENTS)} packages from PyPI, {PLOT_SIZE}")
        install(paths.PLOT_REQUIREMENTS)
        importlib.invalidate_caches()
