# SPDX-License-Identifier: Apache-2.0
"""Late beats are told apart from an emulator's turns where the sandbox kernel tells and time passes in turns, and nowhere else."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from bhtool.machine.memory import Heartbeat
from bhtool.machine.session import Session
from bhtool.report.lateness import caption, gaps_text, latest_text, real_gaps, tells_turns

MS = 1_000_000
TURNS = Heartbeat(1000, MS, 113, 25 * MS, 0)
DELAY = Heartbeat(1000, MS, 0, 51_296, 51_296)
BOTH = Heartbeat(1000, MS, 113, 25 * MS, 51_296)
GAP = Heartbeat(1000, MS, 3, 25 * MS, 2 * MS)
FOREIGN = Heartbeat(1000, MS, 3, 25 * MS, None)


@pytest.mark.parametrize(
    ("beat", "gaps", "latest"),
    [
        (TURNS, "0\n(turns:\n113)", "0 us\n(turns:\n25,000 us)"),
        (DELAY, "0", "51 us"),
        (BOTH, "0\n(turns:\n113)", "51 us\n(turns:\n25,000 us)"),
        (GAP, "3", "2,000 us\n(turns:\n25,000 us)"),
        (FOREIGN, "3", "25,000 us"),
    ],
    ids=["turns", "delay", "both", "gap", "foreign"],
)
def test_turns_are_told_apart_and_delays_stay(beat: Heartbeat, gaps: str, latest: str) -> None:
    assert (gaps_text(beat, True), latest_text(beat, True)) == (gaps, latest)
    assert gaps_text(beat, False) == f"{beat.gaps}", "where it cannot be told, all counts"
    assert latest_text(beat, False) == f"{beat.late_max_ns // 1000:,} us"
    assert real_gaps(beat, False) == beat.gaps


def session(kind: str, is_counted: bool, *beats: Heartbeat) -> Session:
    watches: dict[int, Any] = {number: SimpleNamespace(heartbeat=beat) for number, beat in enumerate(beats)}
    platform = SimpleNamespace(emulator=SimpleNamespace(kind=kind))
    return cast(Session, SimpleNamespace(machine=SimpleNamespace(is_counted=is_counted), platform=platform, watches=watches))


@pytest.mark.parametrize(
    ("of", "words", "tells"),
    [
        (session("qemu", True, TURNS), "turns: the emulator", True),
        (session("qemu", True, TURNS, FOREIGN), "may be turns", True),
        (session("qemu", True, DELAY), "", True),
        (session("qemu", False, TURNS), "followed the host", False),
        (session("bochs", True, TURNS), "cannot be told", False),
    ],
    ids=["counted", "foreign", "nobody late", "host's time", "Bochs"],
)
def test_what_cannot_be_told_is_said(of: Session, words: str, tells: bool) -> None:
    assert words in caption(of)
    assert bool(caption(of)) == bool(words)
    assert tells_turns(of) is tells
