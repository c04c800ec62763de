# SPDX-License-Identifier: Apache-2.0
"""Where things lie: everything the tool makes is under build/ or, if it outlives a clone, in the cache."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
VENV = BUILD / "venv"
PLATFORMS = ROOT / "platforms"
ABI = ROOT / "abi"
COMMANDS = ROOT / "docs" / "commands.md"
PARTITIONS = ROOT / "dts" / "partitions"
CROSS = ROOT / "tools" / "cross"
REQUIREMENTS = ROOT / "tools" / "requirements.txt"
PLOT_REQUIREMENTS = ROOT / "tools" / "requirements-plot.txt"


def cache() -> Path:
    """Downloads that several clones share; BULKHEAD_CACHE moves it."""
    path = os.environ.get("BULKHEAD_CACHE")
    return Path(path) if path else Path.home() / ".cache" / "bulkhead"
