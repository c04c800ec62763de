# SPDX-License-Identifier: Apache-2.0
"""How late a heartbeat was, told apart from an emulator's turns where that can be done (docs/benchmarks.md, "Late beats").

An emulator that counts instructions runs one core at a time. A core that slept until its beat, undisturbed, had executed nothing since the beat was due: what
passed meanwhile were turns of other cores, which hardware does not take. Such beats the sandbox kernel keeps apart.
"""

from bhtool.machine.memory import Heartbeat
from bhtool.machine.session import Session

MICROSECOND = 1000
FOLLOWED = "guest time followed the host: what the host delayed counts as"


def tells_turns(session: Session) -> bool:
    """Whether time passes in turns of one core each, long enough to be taken for delays."""
    return session.machine.is_counted and session.platform.emulator.kind == "qemu"


def real_gaps(beat: Heartbeat, tells: bool) -> int:
    """Without those that were turns, if all were; they are counted together."""
    known = tells and beat.awake_late_max_ns is not None and beat.awake_late_max_ns <= beat.period_ns
    return 0 if known else beat.gaps


def gaps_text(beat: Heartbeat, tells: bool) -> str:
    """In narrow lines: a table of a run has eight columns, and a terminal as few as eighty."""
    real = real_gaps(beat, tells)
    return f"{real:,}" if real == beat.gaps else f"{real:,}\n(turns:\n{beat.gaps:,})"


def latest_text(beat: Heartbeat, tells: bool) -> str:
    """The latest beat, and the latest that turns explain if that is later."""
    latest, awake = us(beat.late_max_ns), beat.awake_late_max_ns
    if not tells or awake is None:
        return latest
    return us(awake) if us(awake) == latest else f"{us(awake)}\n(turns:\n{latest})"


def us(nanoseconds: int) -> str:
    return f"{nanoseconds // MICROSECOND:,} us"


def caption(session: Session) -> str:
    """What the figures of lateness mean here; empty where nobody was late by a period."""
    beats = [watch.heartbeat for watch in session.watches.values() if watch.heartbeat]
    if not session.machine.is_counted:
        return f"{FOLLOWED} gaps"
    if not any(beat.gaps for beat in beats):
        return ""
    if not tells_turns(session):
        return "cores take short turns here, which cannot be told from delays"
    if any(beat.gaps and beat.awake_late_max_ns is None for beat in beats):
        return "cores take turns here: gaps of who does not tell them apart (docs/benchmarks.md) may be turns"
    return "turns: the emulator ran other cores while this one, which slept, should have woken (docs/benchmarks.md)"
