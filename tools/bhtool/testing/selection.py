# SPDX-License-Identifier: Apache-2.0
"""Which tests run: docs/testing.md. Tests are marked `slow` or `long`; what carries neither mark runs always."""

import subprocess
import time
import zlib
from dataclasses import dataclass, replace

from bhtool import paths

SHARES = 10
SEED = 23520  # of the CRC that deals them out: the most expensive tests, as measured, are in different shares
TOUCHED_SECONDS = 240.0  # at most, for long tests that the change touches, besides the share
WHOLE_SECONDS = 900.0  # after which none of these is under way, however long the rest took


@dataclass(frozen=True)
class Selection:
    quick: bool = False  # neither slow nor long
    long: bool = False  # everything
    share: int | None = None  # of the long tests, those of this share as well
    touched_until: float | None = None  # only long tests that the change touches, none started after this moment of the epoch
    platform: str | None = None
    word: str | None = None


def share_of(test: str) -> int:
    """The share a test belongs to: the same on every machine, for as long as it keeps its name. What xdist adds, its group, does not count."""
    return zlib.crc32(test.partition("@")[0].encode(), SEED) % SHARES


def share_of_commit() -> int:
    """Whose turn it is: ten commits in a row go through all shares."""
    command = ["git", "rev-list", "--count", "HEAD"]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    return int(done.stdout) % SHARES if done.returncode == 0 else 0


def of_touched(selection: Selection, so_far: float) -> Selection:
    """What runs after a share, as long as there is time; `so_far`: seconds since the whole run began."""
    return replace(selection, touched_until=time.time() + min(TOUCHED_SECONDS, WHOLE_SECONDS - so_far))


def has_time(selection: Selection) -> bool:
    """Whether any long test that the change touches may still start; if not, they are only counted."""
    return selection.touched_until is not None and selection.touched_until > time.time()
