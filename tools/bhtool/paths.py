# SPDX-License-Identifier: Apache-2.0
"""Where things lie: everything the tool makes is under build/ or, if it outlives a clone, in the cache. A package (bhtool.delivery.package) has no build/."""

import os
import re
from pathlib import Path

from bhtool import VERSION


def cache() -> Path:
    """Downloads that several clones share; BULKHEAD_CACHE moves it."""
    path = os.environ.get("BULKHEAD_CACHE")
    return Path(path) if path else Path.home() / ".cache" / "bulkhead"


def named(text: str) -> str:
    """What is said of the command and of its documents, by the names that they have here: texts are written as for a clone."""
    text = text.replace("tools/bulkhead", PROGRAM)
    return _DOCUMENT.sub(_installed, text) if IS_PACKAGE else text


def _installed(found: re.Match[str]) -> str:
    """A document of the package by its whole path, unless the user has one of that name here."""
    return str(ROOT / found[0]) if (ROOT / found[0]).is_file() and not Path(found[0]).exists() else found[0]


ROOT = Path(__file__).resolve().parents[2]
_DOCUMENT = re.compile(r"(?<![\w./-])docs/[\w/-]+\.md")
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
