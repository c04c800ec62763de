# SPDX-License-Identifier: Apache-2.0
"""Where things lie: everything the tool makes is under build/ or, if it outlives a clone, in the cache. A package (bhtool.package) has no build/."""

import os
from pathlib import Path

from bhtool import VERSION


def cache() -> Path:
    """Downloads that several clones share; BULKHEAD_CACHE moves it."""
    path = os.environ.get("BULKHEAD_CACHE")
    return Path(path) if path else Path.home() / ".cache" / "bulkhead"


def named(text: str) -> str:
    """What is said of the command, by the name that it has here: texts are written as for a clone."""
    return text.replace("tools/bulkhead", PROGRAM)


ROOT = Path(__file__).resolve().parents[2]
PREBUILT = ROOT / "prebuilt"
IS_PACKAGE = PREBUILT.is_dir()
PROGRAM = "bulkhead" if IS_PACKAGE else "tools/bulkhead"
BUILD = cache() / f"package-{VERSION}" if IS_PACKAGE else ROOT / "build"
VENV = BUILD / "venv"
PLATFORMS = ROOT / "platforms"
ABI = ROOT / "abi"
COMMANDS = ROOT / "docs" / "commands.md"
PARTITIONS = ROOT / "dts" / "partitions"
CROSS = ROOT / "tools" / "cross"
REQUIREMENTS = ROOT / "tools" / "requirements.txt"
PLOT_REQUIREMENTS = ROOT / "tools" / "requirements-plot.txt"
