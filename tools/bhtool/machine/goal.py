# SPDX-License-Identifier: Apache-2.0
"""When a run is over."""

from collections.abc import Collection

from bhtool.config.domains import NO_CONSOLE
from bhtool.image.names import is_provided
from bhtool.machine.session import Session, Watch
from bhtool.machine.signs import Panic
from bhtool.machine.standstill import Standstill

DEMO_SECONDS = 10.0  # after every sandbox is up
FOR_GOOD = ("parked", "off", "panicked")  # states that a sandbox does not leave
# Of guest time without a line, by whether it counts instructions: where the host's time goes on, a busy host may be what is slow.
SILENCE_SECONDS = {True: 60.0, False: 120.0}
LINUX_SECONDS = 120.0  # at least, for each Linux: on ARMv7 one unpacks itself for half a minute, and cores take turns
TALK_FACTOR = 5  # who talks has so much longer


class Silence:
    """How long who is not ready has said nothing."""

    def __init__(self) -> None:
        self._heard: dict[str, tuple[int, float]] = {}  # lines, and when there were so many, in guest seconds

    def hopeless(self, watch: Watch, now: float, patience: float) -> bool:
        heard = self._heard.get(watch.plan.name, (-1, 0.0))
        if heard[0] != watch.signs.count:
            heard = self._heard[watch.plan.name] = (watch.signs.count, now)
        return now - heard[1] > patience or now > TALK_FACTOR * patience


def lacking(watch: Watch) -> str:
    """What a sandbox that is not ready should have done, as a clause about it."""
    last = f'; its last line: "{watch.signs.last}"' if watch.signs.last else ""
    if watch.plan.console == NO_CONSOLE:
        return "it has no console on which it could say so"
    if watch.signs.wanted:
        return f'its console has not said "{watch.signs.wanted}"{last}'
    remedy = "give its node `ready-line`, a text that its console says when it is up"
    if watch.plan.os == "linux":
        return f"as far as its console tells, it has neither run its first process nor asked for input; {remedy}{last}"
    return f"it has not made the hypercall READY (docs/guest.md); if it cannot, {remedy}{last}"


def panic_text(name: str, panic: Panic, restarts: bool) -> str:
    """In one sentence, with its console's lines around it."""
    parts = [
        f"{name} had a kernel panic: {panic.text}",
        panic.remedy,
        "with panic=1 in its `bootargs` it would begin again" if restarts else "",
    ]
    return "\n".join(("; ".join(filter(None, parts)), *(f"  {line}" for line in panic.lines)))


class Goal:
    """What a run goes on for; asked after every poll of its session."""

    def __init__(self, session: Session, seconds: float | None, until_ready: bool, may_end: Collection[str] = ()) -> None:
        """`may_end`: sandboxes whose end does not end the run."""
        self._session, self._seconds, self._until_ready, self._may_end = session, seconds, until_ready, may_end
        self._standstill, self._silence = Standstill(session), Silence()
        self._settled_at: float | None = None
        self.note = ""  # what the user should know of how it ended

    def reached(self) -> bool:
        """Whether the run has shown what it was to show, or will show nothing more."""
        return self._is_shown() or self._is_over()

    def hopeless(self) -> str:
        """Why the goal will not be reached although the machine works on; empty: nothing says so."""
        return self._panic() or self._standstill.notice() or self._waits_in_vain()

    def _panic(self) -> str:
        for name, watch in self._session.watches.items():
            if watch.state == "panicked" and watch.panic and name not in self._may_end:
                return panic_text(name, watch.panic, watch.plan.restarts)
        return ""

    def _waits_in_vain(self) -> str:
        """The tool's own root file system is known to say its line."""
        if self._seconds is not None:
            return ""
        session = self._session
        kernels = sum(watch.plan.os == "linux" for watch in session.watches.values())
        patience = max(SILENCE_SECONDS[session.machine.is_counted], LINUX_SECONDS * kernels)
        for watch in session.watches.values():
            is_known = not watch.plan.ready_line and watch.plan.os == "linux" and is_provided(session.plan.file, watch.plan.initrd)
            if not watch.settled and not is_known and self._silence.hopeless(watch, session.guest_seconds(), patience):
                return f"{watch.plan.name} did not get ready: {lacking(watch)}"
        return ""

    def _is_shown(self) -> bool:
        session = self._session
        if self._seconds is not None:
            return session.guest_seconds() >= self._seconds
        settled = all(watch.settled for watch in session.watches.values())
        if settled and self._settled_at is None:
            self._settled_at = session.guest_seconds()
        if self._settled_at is None:
            return False
        return self._until_ready or session.guest_seconds() >= self._settled_at + DEMO_SECONDS

    def _is_over(self) -> bool:
        if self._standstill.sleeps():
            self.note = "every core sleeps and no timer is set, so guest time does not go on"
            return True
        return all(watch.state in FOR_GOOD for watch in self._session.watches.values())
