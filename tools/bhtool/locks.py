# SPDX-License-Identifier: Apache-2.0
"""Keeps two commands of this tool from doing the same thing in the same folder at once. Standard library only."""

from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

LOCK = "bulkhead.lock"


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Waits for its turn; the lock goes with the process."""
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / LOCK).open("w", encoding="utf-8") as lock:
        flock(lock, LOCK_EX)
        yield
