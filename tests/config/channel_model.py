# SPDX-License-Identifier: Apache-2.0
"""channel_model.c as a shared object: how long exchanges take on two cores, by the sandbox kernel's sporadic servers."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bhtool.paths import ROOT

MOST_STRETCHES = 8
Stretches = Sequence[tuple[int, int]]


class CStretch(ctypes.Structure):
    _fields_ = (("start", ctypes.c_uint64), ("until", ctypes.c_uint64))


class CEnd(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("budget", "period", "phase", "lost", "lost_at", "higher_budget", "higher_period")),
        ("hungry_count", ctypes.c_uint32),
        ("nap_count", ctypes.c_uint32),
        ("hungry", CStretch * MOST_STRETCHES),
        ("naps", CStretch * MOST_STRETCHES),
    )


@dataclass(frozen=True)
class ModelEnd:
    budget: int
    period: int
    phase: int = 0
    higher: tuple[int, int] = (1, 1)  # budget and period of the VCPU before it,
    hungry: Stretches = ()  # which wants to run in these
    naps: Stretches = ()  # when the end sleeps
    lost: int = 0  # of each budget, to switches
    lost_at: int = 0  # of these, the first ones


@dataclass(frozen=True)
class Longest:
    span: int
    start: int
    phase: int


def _stretches(given: Stretches) -> ctypes.Array[CStretch]:
    return (CStretch * MOST_STRETCHES)(*(CStretch(*one) for one in given))


def _end(one: ModelEnd) -> CEnd:
    return CEnd(
        one.budget,
        one.period,
        one.phase,
        one.lost,
        one.lost_at,
        *one.higher,
        len(one.hungry),
        len(one.naps),
        _stretches(one.hungry),
        _stretches(one.naps),
    )


class Model:
    def __init__(self, folder: Path) -> None:
        library = folder / "channel_model.so"
        sources = [Path(__file__).with_name("channel_model.c"), ROOT / "kernel" / "sched" / "sporadic.c"]
        subprocess.run(["clang-19", "-std=c17", "-O2", "-shared", "-fPIC", "-I", str(ROOT), "-o", library, *sources], check=True)
        self._library = ctypes.CDLL(str(library))
        self._library.exchange.restype = self._library.longest.restype = ctypes.c_uint64

    def exchange(self, ends: tuple[ModelEnd, ModelEnd], start: int, works: Sequence[int], times: int = 1) -> int:
        """Stages of the ends in turn, `times` over; if that is once, an odd number of them is good, too."""
        pair, row = (CEnd * 2)(*map(_end, ends)), (ctypes.c_uint64 * len(works))(*works)
        return int(self._library.exchange(pair, ctypes.c_uint64(start), row, len(works), times))

    def longest(self, ends: tuple[ModelEnd, ModelEnd], starts: range, works: Sequence[int], times: int = 1, step: int = 1) -> Longest:
        """Of all starts in a range, and all phases of end 1 a step apart."""
        pair, row = (CEnd * 2)(*map(_end, ends)), (ctypes.c_uint64 * len(works))(*works)
        start, phase = ctypes.c_uint64(), ctypes.c_uint64()
        numbers = map(ctypes.c_uint64, (starts.start, starts.stop, starts.step, step))
        span = self._library.longest(pair, *numbers, row, len(works), times, ctypes.byref(start), ctypes.byref(phase))
        return Longest(int(span), start.value, phase.value)
