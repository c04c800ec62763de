# SPDX-License-Identifier: Apache-2.0
"""Refusals of the operating system that no verb foresaw, and programs that hang: each becomes one sentence and a status.

The launcher needs it before anything is installed, so it imports nothing but Python's own modules.
"""

import errno
import subprocess
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.room import no_room

UNFORESEEN = (OSError, subprocess.TimeoutExpired)
REMEDIES = {
    errno.EROFS: "choose another place",
    errno.EACCES: "choose another file, or change who may use this one",
    errno.EPERM: "choose another file, or change who may use this one",
    errno.ENOENT: "choose another file",
    errno.ENOTDIR: "choose another file",
    errno.EISDIR: "choose a file that is no folder",
}


def as_refusal(error: OSError | subprocess.TimeoutExpired) -> BulkheadError:
    """The sentence for it. Raises again what only looks like an answer of the system: a fault of this tool."""
    if isinstance(error, subprocess.TimeoutExpired):
        return _too_late(error)
    if error.errno is None:
        raise error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return BulkheadError(no_room())
    name = str(error.filename or "the system")
    if isinstance(error, FileNotFoundError) and "/" not in name and not Path(name).suffix:
        return BulkheadError(f"there is no program {name}; `{paths.PROGRAM} setup` installs what this needs", Status.MISSING)
    remedy = REMEDIES.get(error.errno, "")
    return BulkheadError(f"{name}: {error.strerror}" + (f"; {remedy}" if remedy else ""))


def _too_late(error: subprocess.TimeoutExpired) -> BulkheadError:
    program = error.cmd if isinstance(error.cmd, str) else error.cmd[0]
    return BulkheadError(f"{program} has not ended within {error.timeout:g} s; try again when this machine is less busy", Status.TIME_LIMIT)
