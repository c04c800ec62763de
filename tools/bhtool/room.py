# SPDX-License-Identifier: Apache-2.0
"""Checks that the disks which the tool writes to have space left, and says in one sentence which has none."""

import shutil
import tempfile
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError
from bhtool.text import size_text

NEEDED_BYTES = 256 << 20  # what builds, images and campaigns of one run take at most, in one folder


def present(folder: Path) -> Path:
    """The folder, or the nearest one above it that there is."""
    return next(one for one in (folder, *folder.parents) if one.is_dir())


def fullest() -> tuple[Path, int]:
    """Of the folders the tool writes to, the one with the least room, and how much that is."""
    folders = map(present, (Path(tempfile.gettempdir()), paths.BUILD.resolve(), paths.cache().resolve(), Path.cwd()))
    return min(((one, shutil.disk_usage(one).free) for one in folders), key=lambda found: found[1])


def no_room() -> str:
    folder, free = fullest()
    wanted = f"where {size_text(NEEDED_BYTES)} should be free"
    return f"the disk is full: {folder} has room for {size_text(free)}, {wanted}; delete what you do not need there, or set TMPDIR to another folder"


def require_room() -> None:
    """For when a program failed without a word: it may have had no room for one."""
    if fullest()[1] < NEEDED_BYTES:
        raise BulkheadError(no_room())
