# SPDX-License-Identifier: Apache-2.0
"""What the user's terminal is and can do. No other module asks for it."""

import os
import select
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress

DUMB = ("", "dumb", "unknown")
FALLBACK = (80, 24)


def is_shared() -> bool:
    """Whether standard output and standard error are one and the same terminal."""
    if not (os.isatty(1) and os.isatty(2)):
        return False
    return os.fstat(1).st_rdev == os.fstat(2).st_rdev


def can_be_live() -> bool:
    """Whether a display may move the cursor: a reader of a pipe, a record of CI or a shell in front of us would get it garbled."""
    return _could_be_live() and is_foreground(1)


def is_behind() -> bool:
    """Whether there is no live display for one reason alone: we are a job in the background, as below `timeout`."""
    return _could_be_live() and not is_foreground(1)


def _could_be_live() -> bool:
    is_record = os.environ.get("CI", "").lower() not in ("", "0", "false")
    return is_shared() and os.environ.get("TERM", "") not in DUMB and not is_record


def is_foreground(descriptor: int) -> bool:
    """False for a job in the background, whose terminal belongs to the shell. True where there is no job control."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return True


@contextmanager
def unstopped() -> Iterator[None]:
    """The terminal does not stop us for using it from the background: settings are made, and a read fails with EIO."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTTIN, signal.SIGTTOU))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def size(descriptor: int) -> tuple[int, int]:
    """(columns, rows) at this moment."""
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:
        return FALLBACK
    return columns or FALLBACK[0], rows or FALLBACK[1]


def write(descriptor: int, data: bytes) -> None:
    """All of it, even where somebody has made the terminal non-blocking."""
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


def encodes(text: str) -> bool:
    """Whether standard output can show the characters."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def keys_unseen() -> Iterator[None]:
    """What is typed is not shown: an Enter would move the cursor under a live display. Ctrl-C and Ctrl-Z do what they always do.

    The terminal is that of standard output, whatever standard input is.
    """
    try:
        before = termios.tcgetattr(1) if is_foreground(1) else None
    except termios.error:
        before = None
    if before is None:
        yield
        return
    silent = [*before]
    silent[3] &= ~termios.ECHO
    try:
        termios.tcsetattr(1, termios.TCSADRAIN, silent)
        yield
    finally:
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(1, termios.TCSADRAIN, before)
