# SPDX-License-Identifier: Apache-2.0
"""Programs started here end when this one does, however it ends; and a request to end is heard as an exception."""

import math
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

REPEAT_SECONDS = 1.0


def owned(command: list[str]) -> list[str]:
    """The command, killed by the kernel when its parent dies (prctl(2), PR_SET_PDEATHSIG)."""
    return ["setpriv", "--pdeathsig", "KILL", *command]


def end_in_order() -> None:
    """SIGTERM unwinds the stack, so that machines are stopped and files removed."""

    def ask(number: int, _: object) -> NoReturn:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, ask)


@contextmanager
def interruptible() -> Iterator[None]:
    """Ends quietly at SIGINT, which means this from then on. Requires: the main thread. What comes within REPEAT_SECONDS is the same request, also after the end: `timeout` tells the command, and then its group."""
    deaf_until = -math.inf

    def hear(_number: int, _frame: object) -> None:
        nonlocal deaf_until
        now = time.monotonic()
        if now >= deaf_until:
            deaf_until = now + REPEAT_SECONDS
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, hear)
    with suppress(KeyboardInterrupt):
        yield
