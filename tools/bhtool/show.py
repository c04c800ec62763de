# SPDX-License-Identifier: Apache-2.0
"""A run on the screen: every event of a session as lines under the name of its sandbox."""

from bhtool import reports
from bhtool.screen import Screen
from bhtool.session import CrashEvent, Event, LineEvent, MonitorEvent, ReadyEvent, RestartEvent, Session

MONITOR = "monitor"


class Show:
    """Prints events as they come."""

    def __init__(self, screen: Screen, session: Session) -> None:
        self._screen, self._session = screen, session
        self._told: set[tuple[str, str, int, int]] = set()  # what has been told in full: sandbox, reason, pc, address
        screen.name_sandboxes([*session.watches, MONITOR])

    def waiting_for(self) -> str:
        names = [name for name, watch in self._session.watches.items() if not watch.settled]
        return f"waiting for {', '.join(names)}" if names else "running"

    def look(self) -> None:
        """After every look at the machine: what is waited for."""
        self._screen.update(self.waiting_for())

    def event(self, event: Event) -> None:
        if isinstance(event, LineEvent):
            if event.text.strip():
                self._screen.line(event.sandbox, event.text)
        elif isinstance(event, MonitorEvent):
            self._screen.line(MONITOR, event.text)
        elif isinstance(event, ReadyEvent):
            self._screen.line(event.sandbox, "is ready", "dim")
        elif isinstance(event, RestartEvent):
            self._screen.line(event.sandbox, f"begins again: restart {event.restarts}", "yellow")
        elif isinstance(event, CrashEvent):
            self._crash(event)

    def _crash(self, event: CrashEvent) -> None:
        """The whole record; of one that is restarted and does the same time and again, only what it did."""
        watch = self._session.watches[event.sandbox]
        lines = reports.crash_lines(self._session.plan, watch.plan.index, event.crash, self._session.platform.arch)
        known = (event.sandbox, event.crash.reason, event.crash.pc, event.crash.address)
        is_known = known in self._told and watch.plan.restarts and watch.state != "parked"
        for line in lines[:1] if is_known else lines:
            self._screen.line(event.sandbox, line, "red")
        self._told.add(known)
