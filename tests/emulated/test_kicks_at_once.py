# SPDX-License-Identifier: Apache-2.0
"""BH-I4.kick. A kick that comes while a core takes what was pending is answered: of cores that run at the same time, in the host's time.

One instruction after the other, kicks hardly meet that moment. A monitor waits a tenth of a second for an answer, in which a loaded host may not
have let the emulator's thread run at all: an answer may come late, which says nothing. A kick that got lost is never answered, unless by the
answer to the next one. So the kicker stops at the first late answer, and goes on when that has come.
"""

import re
from dataclasses import dataclass

import pytest
from bhtool.platforms import Platform
from bhtool.session import Event, LineEvent, Session

from tests.emulated.case import SECOND_SVM, SVM, VTX, Case, Sandbox
from tests.emulated.expect import Kicked, Returned
from tests.emulated.observe import Observation, Progress, judge
from tests.emulated.observe import started as machine_of
from tests.emulated.scene import stage

KICKS = 20000
KICKED = re.compile(r": kicked (\d+) of (\d+)$")
FIRST_RESTARTED = Case(
    "cores-first-restarted",
    "a kick that comes while a core takes what was pending is answered",
    (
        Sandbox("kicker", 0, f"ticks=800 kick={{pair.index}},{KICKS}", uart="uart1", may_kick=("pair",), beats=False),
        Sandbox("pair", (1, 2), "ticks=400 core=1,restart=8,150", beats=False),
        Sandbox("bystander", 3),
    ),
    (Kicked("pair", KICKS), Returned("pair", "restart=8,150", 8)),
    (SVM, VTX, SECOND_SVM),
    icount=False,
    limit_beats=1000000,
    limit_seconds=400.0,
)


@dataclass
class Kicker:
    """Has it kick again, once the answer that was late has come."""

    session: Session
    target: int
    sent: int = 0
    late: int = 0
    waits: bool = False

    def note(self, event: Event | None) -> None:
        if isinstance(event, LineEvent) and event.sandbox == "kicker" and (said := KICKED.search(event.text)):
            answered, asked = int(said[1]), int(said[2])
            self.sent += min(answered + 1, asked)
            self.waits = answered < asked
            self.late += self.waits
        elif event is None and self.waits and self._answered() == self.sent:
            self.waits = False
            if self.sent < KICKS:
                self.session.watches["kicker"].console.write(f"kick={self.target},{KICKS - self.sent}\n".encode())

    def _answered(self) -> int:
        stats = self.session.watches["pair"].stats
        return stats.kicks if stats else 0


@pytest.mark.slow
@pytest.mark.parametrize("platform", [SVM, VTX, pytest.param(SECOND_SVM, marks=pytest.mark.long)])
def test_no_kick_is_lost_while_the_first_core_starts_again(machine_platform: Platform) -> None:
    case, scene = FIRST_RESTARTED, stage(machine_platform, FIRST_RESTARTED)
    with machine_of(machine_platform, case, scene, ()) as (session, _):
        seen, progress = Observation(scene.places, session.watches), Progress(case)
        kicker = Kicker(session, scene.places.sandboxes["pair"].index)
        for event in session.events(case.limit_seconds):
            seen.note(event)
            kicker.note(event)
            if event is None and progress.over(seen):
                break
        wrong = judge(case, seen)
        assert not wrong, "\n".join([*wrong, f"{kicker.late} late answers, {kicker.sent} kicks", seen.state()])
