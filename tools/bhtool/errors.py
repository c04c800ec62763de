# SPDX-License-Identifier: Apache-2.0
"""How every verb ends: exit statuses scripts rely on, and the one exception that carries them."""

from enum import IntEnum

from bhtool.paths import PROGRAM


class Status(IntEnum):
    GOOD = 0
    FAILED = 1  # the thing asked about failed or was refused
    USAGE = 2
    MISSING = 3  # a tool, package or emulator is missing or too old
    TIME_LIMIT = 4
    INTERRUPTED = 130  # as shells say it


class BulkheadError(Exception):
    """One clear sentence for the user, and the status to exit with."""

    def __init__(self, text: str, status: Status = Status.FAILED) -> None:
        super().__init__(text.replace("tools/bulkhead", PROGRAM))
        self.status = status
