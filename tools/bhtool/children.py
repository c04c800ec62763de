# SPDX-License-Identifier: Apache-2.0
"""Programs started here end when this one does, however it ends; and a request to end is heard as an exception."""

import signal
import sys
from typing import NoReturn


def owned(command: list[str]) -> list[str]:
    """The command, killed by the kernel when its parent dies (prctl(2), PR_SET_PDEATHSIG)."""
    return ["setpriv", "--pdeathsig", "KILL", *command]


def end_in_order() -> None:
    """SIGTERM unwinds the stack, so that machines are stopped and files removed."""

    def ask(number: int, _: object) -> NoReturn:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, ask)
