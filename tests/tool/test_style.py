# SPDX-License-Identifier: Apache-2.0
"""Python is clean by the checkers that pyproject.toml configures."""

import subprocess
import sys

import pytest
from bhtool.paths import BUILD, ROOT

PYTHON = ("tools/bulkhead", "tools/bhtool", "tests")
CHECKS = {
    "ruff": ("ruff", "check", "--no-cache", *PYTHON),
    "format": ("ruff", "format", "--check", "--no-cache", *PYTHON),
    "types": ("mypy", f"--cache-dir={BUILD / 'mypy'}"),
}


@pytest.mark.parametrize("check", CHECKS)
def test_python_is_clean(check: str) -> None:
    done = subprocess.run([sys.executable, "-m", *CHECKS[check]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
