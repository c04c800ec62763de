# SPDX-License-Identifier: Apache-2.0
"""The programs that pack bootable images, each in a folder of its own that is gone afterwards."""

import os
import subprocess
from pathlib import Path

from bhtool.errors import BulkheadError, Status

# What carries a date carries this one: images of the same files differ as little as the tools allow. reproducible-builds.org.
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "315532800", "TZ": "UTC"}  # 1980, where FAT begins


def run_tool(*command: str, folder: Path) -> None:
    """In `folder`; raises what the program complained of."""
    try:
        done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        raise BulkheadError(f"{command[0]} is missing; run `tools/bulkhead setup`", Status.MISSING) from missing
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()] or ["it gives no reason"]
        raise BulkheadError(f"{command[0]} failed: {lines[-1].strip()}")


def put(folder: Path, path: str, content: bytes | str) -> str:
    """A file below `folder`, with the folders on the way; its path."""
    place = folder / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
