# SPDX-License-Identifier: Apache-2.0
"""What `debug` tells of a crash: all that `run` tells, but the registers, which are gdb's."""

from types import SimpleNamespace
from typing import cast

import pytest
from bhtool.config.explain import explain
from bhtool.config.plan import Plan
from bhtool.machine.memory import Crash
from bhtool.machine.session import CrashEvent, Session, Watch
from bhtool.report.places import Place, Places
from bhtool.verbs import debug

CALLERS = tuple(Place(n, f"caller{n}") for n in range(6))


@pytest.mark.parametrize(
    ("state", "restarts", "last"),
    [("ready", False, debug.REGISTERS_HERE), ("parked", True, debug.REGISTERS_HERE), ("ready", True, debug.REGISTERS_IN_RUN)],
)
def test_the_line_that_explains_a_crash_is_shown_behind_any_number_of_callers(
    state: str, restarts: bool, last: str, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash = Crash("memory", 1, "write", 0x70000000, 0, 0x1234, 0, 4, (0, 0), 0, (7,) * 36)
    monkeypatch.setattr(plan.sandboxes[1], "restarts", restarts)
    monkeypatch.setattr(debug, "places_of", lambda *_: Places(Place(0x1234, "poll"), CALLERS))
    session = cast(Session, SimpleNamespace(plan=plan, memory=None, platform=SimpleNamespace(arch="aarch64", backend="stage2")))
    observer = debug.Observer(session, cast(Watch, SimpleNamespace(plan=plan.sandboxes[1], state=state, crash=crash)))
    observer.note(CrashEvent(plan.sandboxes[1].name, crash))
    said = observer.notes
    assert said[0] == f"{'fault' if restarts else 'parked'}: write of 4 bytes at memory 0x70000000, value 0x0, in poll"
    assert [line for line in said if "called from" in line] == [f"  called from {one}" for one in CALLERS]
    assert said[-2:] == [f"  {explain(plan, 1, 'memory', 0x70000000)}", last]
