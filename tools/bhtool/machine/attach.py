# SPDX-License-Identifier: Apache-2.0
"""The user's terminal as one sandbox's console. Ctrl-] leaves; everything else, Ctrl-C too, goes to the sandbox."""

import os
import select
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from tty import setraw

from bhtool.config.domains import LOG, NO_CONSOLE
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.errors import BulkheadError, Status
from bhtool.machine.session import EndEvent, Event, Session
from bhtool.terminal import tty
from bhtool.text import all_of, did_you_mean

LEAVE = b"\x1d"
LOOK_SECONDS = 0.02
SILENCE_SECONDS = 2.0  # after the end of input that is no terminal


def require_foreground(what: str) -> None:
    """Refuses what is typed to, in a job in the background: its terminal would stop it for good."""
    if os.isatty(0) and not tty.is_foreground(0):
        why = "it is in the background of this one (with timeout: `timeout --foreground`)"
        raise BulkheadError(f"{what} needs the terminal's foreground; {why}", Status.USAGE)


@contextmanager
def raw_terminal(descriptor: int) -> Iterator[None]:
    """Refuses a job in the background. One that gets there later is not stopped, and leaves the terminal as it was."""
    if not os.isatty(descriptor):
        yield
        return
    require_foreground("--attach")
    before = termios.tcgetattr(descriptor)
    with tty.unstopped():
        try:
            setraw(descriptor)
            yield
        finally:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def require_sandbox(plan: Plan, name: str, option: str = "") -> SandboxPlan:
    """The sandbox that an option, or an argument, names. Refuses one that does not exist."""
    known = {sandbox.name: sandbox for sandbox in plan.sandboxes}
    if name not in known:
        text = f"{plan.file.name} has no sandbox `{name}`{did_you_mean(name, known)}; {all_of(known)}"
        raise BulkheadError(f"{option}: {text}" if option else text, Status.USAGE)
    return known[name]


def require_input(plan: Plan, name: str) -> None:
    """Refuses a sandbox that does not exist or cannot be typed to, before anything is started."""
    found = require_sandbox(plan, name, "--attach")
    if found.console in (LOG, NO_CONSOLE):
        raise BulkheadError(f'{name}\'s console is "{found.console}", which takes no input; give it a UART to attach', Status.USAGE)


class Left(Enum):
    BY_USER = auto()  # or the input, which is no terminal, has ended
    TIME_LIMIT = auto()


class Attachment:
    """Copies bytes both ways until the user leaves, the input ends or the machine does."""

    def __init__(self, session: Session, name: str) -> None:
        self.session, self.watch = session, session.watches[name]
        self._console = self.watch.console
        self.watch.console = self  # the session reads through us
        self._input_open = True
        self._last_output = time.monotonic()

    def read(self) -> bytes:
        data = self._console.read()
        if data:
            self._last_output = time.monotonic()
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        return data

    def write(self, data: bytes) -> bool:
        return self._console.write(data)

    def run(self, limit: float, hear: Callable[[Event], None]) -> Left | EndEvent:
        """Returns why it is over. `limit`: host seconds. `hear` is told of everything that happens meanwhile, in any sandbox."""
        deadline = time.monotonic() + limit
        with raw_terminal(sys.stdin.fileno()):
            while not self._over():
                if time.monotonic() >= deadline:
                    return Left.TIME_LIMIT
                for event in self.session.poll():
                    hear(event)
                    if isinstance(event, EndEvent):
                        return event
                if not self._forward():
                    break
        return Left.BY_USER

    def _over(self) -> bool:
        return not self._input_open and time.monotonic() - self._last_output > SILENCE_SECONDS

    def _forward(self) -> bool:
        """False: the user left. Input waits until the sandbox is up: a driver that is not there yet would lose it. In the background it is not ours."""
        if not (self.watch.ready and self._input_open and tty.is_foreground(sys.stdin.fileno())):
            time.sleep(LOOK_SECONDS)
            return True
        if not select.select([sys.stdin], [], [], LOOK_SECONDS)[0]:
            return True
        data = os.read(sys.stdin.fileno(), 256)
        self._input_open = bool(data)
        self._last_output = time.monotonic()
        kept, leave, _ = data.partition(LEAVE)
        self.write(kept)
        return not leave
