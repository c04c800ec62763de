# SPDX-License-Identifier: Apache-2.0
"""When a run is over."""

from bhtool.session import Session
from bhtool.standstill import Standstill

DEMO_SECONDS = 10.0  # after every sandbox is up
FOR_GOOD = ("parked", "off")  # states that a sandbox does not leave


class Goal:
    """What a run goes on for; asked after every poll of its session."""

    def __init__(self, session: Session, seconds: float | None, until_ready: bool) -> None:
        self._session, self._seconds, self._until_ready = session, seconds, until_ready
        self._standstill = Standstill(session)
        self._settled_at: float | None = None
        self.note = ""  # what the user should know of how it ended

    def reached(self) -> bool:
        """Whether the run has shown what it was to show, or will show nothing more."""
        return self._is_shown() or self._is_over()

    def hopeless(self) -> str:
        """Why the goal will never be reached although the machine works on; empty: nothing says so."""
        return self._standstill.notice()

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
