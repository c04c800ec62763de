# SPDX-License-Identifier: Apache-2.0
"""Addresses of a program's symbols, by llvm-nm."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from bhtool.errors import BulkheadError, Status

PROGRAM = "llvm-nm-19"


def read_symbols(file: Path) -> Mapping[str, int]:
    """Of an ELF file; the first of those that share a name."""
    try:
        said = subprocess.run([PROGRAM, "--no-sort", str(file)], capture_output=True, text=True, check=True, timeout=60).stdout
    except FileNotFoundError as error:
        raise BulkheadError(f"{PROGRAM} is not installed: run `tools/bulkhead setup`", Status.MISSING) from error
    rows = [line.split() for line in said.splitlines()]
    return {row[2]: int(row[0], 16) for row in reversed(rows) if len(row) == 3}
