# SPDX-License-Identifier: Apache-2.0
"""BH-I4.kick. Kicks to cores that run at the same time, in the host's time: what cannot be shown one instruction after the other.

A monitor waits a tenth of a second for an answer, in which a loaded host may not
have let the emulator's thread run at all: an answer may come late, which says nothing. A kick that got lost is never answered, unless by the
answer to the next one. So the kicker stops at the first late answer, and goes on when that has come.
"""

import re
from dataclasses import dataclass

import pytest
from bhtool.machine.session import Event, LineEvent, Session
from bhtool.platforms import Platform

from tests.emulated.case import ARM, SECOND_SVM, SVM, VTX, Case, Sandbox
from tests.emulated.expect import Expectation, Kicked, Returned
from tests.emulated.observe import Observation, Progress, judge
from tests.emulated.observe import started as machine_of
from tests.emulated.scene import stage

MANY, FEW = 20000, 1000
KICKED = re.compile(r": kicked (\d+) of (\d+)$")


def kicks(name: str, guards: str, count: int, victim: Sandbox, platforms: tuple[str, ...], *expected: Expectation) -> Case:
    sandboxes = (
        Sandbox("kicker", 0, f"ticks=800 kick-until-late={{victim.index}},{count}", uart="uart1", may_kick=("victim",), beats=False),
        victim,
        Sandbox("bystander", 3),
    )
    expect = (Kicked("victim", count), *expected)
    return Case(name, guards, sandboxes, expect, platforms, icount=False, limit_beats=1000000, limit_seconds=1800.0)


CASES = (
    kicks(
        "first-core-restarted",  # one instruction after the other, kicks hardly meet that moment
        "a kick that comes while a core takes what was pending is answered",
        MANY,
        Sandbox("victim", (1, 2), "ticks=400 core=1,restart=8,150", beats=False),
        (SVM, VTX, SECOND_SVM),
        Returned("victim", "restart=8,150", 8),
    ),
    kicks(
        "endless-exceptions",  # QEMU's clock stands still where it counts instructions, of which there are none
        "a guest that executes nothing but exceptions is stopped for every kick, and stops nobody else",
        FEW,
        Sandbox("victim", 1, "ticks=400 endless", beats=False),
        ARM,
    ),
)
ROWS = [
    pytest.param(platform, case, id=f"{platform}-{case.name}", marks=pytest.mark.long if platform == SECOND_SVM else pytest.mark.slow)
    for case in CASES
    for platform in case.platforms
]


@dataclass
class Kicker:
    """Has it kick again, once the answer that was late has come."""

    session: Session
    target: int
    count: int
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
            if self.sent < self.count:
                self.session.watches["kicker"].console.write(f"kick-until-late={self.target},{self.count - self.sent}\n".encode())

    def _answered(self) -> int:
        stats = self.session.watches["victim"].stats
        return stats.kicks if stats else 0


@pytest.mark.parametrize(("platform", "case"), ROWS)
def test_no_kick_is_lost(machine_platform: Platform, case: Case) -> None:
    scene = stage(machine_platform, case)
    with machine_of(machine_platform, case, scene, ()) as (session, _):
        seen, progress = Observation(scene.places, session.watches), Progress(case)
        (count,) = (one.count for one in case.expect if isinstance(one, Kicked))
        kicker = Kicker(session, scene.places.sandboxes["victim"].index, count)
        for event in session.events(case.limit_seconds):
            seen.note(event)
            kicker.note(event)
            if event is None and progress.over(seen):
                break
        wrong = judge(case, seen)
        assert not wrong, "\n".join([*wrong, f"{kicker.late} late answers, {kicker.sent} kicks", seen.state()])
