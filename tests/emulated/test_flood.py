# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler. Whoever floods a UART takes its I/O VCPU's share and its line's rate, and no more: the control loop's answer moves by what was
counted for it, and another sandbox says what it says without.
"""

import math
import re
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.bench.stage import COUNTED, counting, refuse_end
from bhtool.machine.emulated import Machine
from bhtool.machine.session import LineEvent, Session
from bhtool.platforms import Platform

from tests.emulated.scene import compile_file, platform_or_skip, scene_of

PLATFORMS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm")
pytestmark = [pytest.mark.slow, pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.platform(one)) for one in PLATFORMS])]

ALONE, BESIDE = (Path(__file__).parent / f"{name}.dts" for name in ("flood", "flood_beside"))
LIMIT = 120.0
LEAST = 5  # characters: how many come depends on the host
PERIOD_US, SLOW_US, RATE_HZ, ROUNDS = 1000, 4000, 2000, 100  # of both loops and of the line, in flood.dts; of the neighbour's loop
SHARE, IO_PERIOD_US = 0.05, 2000  # of the I/O VCPU
MASKED = re.compile(r"^irq of the console: masked (\d+) times")
LOOP = re.compile(r"^loop: (\d+) rounds, (\d+) missed, latest (\d+) ns$")
ECHO = re.compile(r"^echo: (\d+) rounds")
LAST = re.compile("^slow: done ")
GIVEN = re.compile(r"^vcpu (\w+): (\d+) us of (\d+) us; given (\d+) us in (\d+) us")
FLOOD = b"~" * 4096


@dataclass(frozen=True)
class Seen:
    engine: list[str]
    other: list[str]

    @property
    def latest_ns(self) -> int:
        (found,) = filter(None, map(LOOP.match, self.engine))
        assert found[2] == "0", "the loop missed a period"
        return int(found[3])

    def answer_ns(self, name: str) -> int:
        """From when a period of this loop began until its round was done, at most."""
        (found,) = filter(None, (re.match(rf"^{name}: done (\d+) ns", line) for line in self.engine))
        return int(found[1])

    @property
    def masked(self) -> int:
        """How often its line was, as it came too often."""
        return sum(int(found[1]) for found in filter(None, map(MASKED.match, self.engine)))

    @property
    def echoed(self) -> int:
        (found,) = filter(None, map(ECHO.match, self.engine))
        return int(found[1])

    def given(self, name: str) -> tuple[int, ...]:
        return next(tuple(map(int, found.groups()[1:])) for found in map(GIVEN.match, self.engine) if found and found[1] == name)


def send(machine: Machine, text: bytes, over: threading.Event) -> None:
    """Again and again, as long as somebody takes it."""
    while not over.is_set():
        try:
            machine.serials["uart0"].send(text)
        except BlockingIOError:
            over.wait(0.001)
        except OSError:
            return


def own(sandbox: str, line: str) -> str:
    """What the kernel says stands after its name, and what is echoed comes between."""
    return line.replace("~", "").rpartition(f"{sandbox}: ")[2]


def watch(platform: Platform, file: Path, flood: bytes = b"") -> Seen:
    said: dict[str, list[str]] = {"engine": [], "other": []}
    over = threading.Event()
    platform = counting(platform)
    scene = scene_of(platform, compile_file(platform, file))
    with Session(platform, scene.plan, Machine(platform, scene.image, COUNTED)) as session:
        sender = threading.Thread(target=send, args=(session.machine, flood, over))
        for event in session.events(LIMIT):
            if event is not None:
                refuse_end(session, event)
            if not isinstance(event, LineEvent):
                continue
            said[event.sandbox].append(own(event.sandbox, event.text))
            if flood and event.sandbox == "engine" and len(said["engine"]) == 1:
                sender.start()
            if any(LAST.match(line) for line in said["engine"]) and (file == ALONE or any(LOOP.match(line) for line in said["other"])):
                break
        over.set()
    if flood:
        sender.join()
    return Seen(said["engine"], said["other"])


def top_halves_ns(platform: Platform, period_us: int) -> int:
    """What those of the line take of a loop's period, with the one more that may come at any time: kernel/core/rate.h. An instruction is 1 ns."""
    return (math.ceil(period_us * RATE_HZ / 1e6) + 1) * (platform.top_half_ns >> platform.emulator.icount_shift)


def test_a_flood_moves_the_loop_by_what_was_counted(name: str) -> None:
    """With no other core at work: the count of instructions is one for all."""
    platform = platform_or_skip(name)
    quiet, flooded = watch(platform, ALONE), watch(platform, ALONE, FLOOD)
    assert quiet.masked == 0
    assert flooded.echoed > LEAST, "nobody flooded it"
    assert flooded.masked > LEAST, "it was not more than the line's rate"
    assert flooded.latest_ns <= quiet.latest_ns + top_halves_ns(platform, PERIOD_US)
    assert flooded.latest_ns < flooded.answer_ns("loop") <= quiet.answer_ns("loop") + top_halves_ns(platform, PERIOD_US)
    interference_ns = 1000 * SHARE * (IO_PERIOD_US + SLOW_US - SHARE * IO_PERIOD_US)  # C + U(t - C): docs/admission.md
    assert flooded.answer_ns("slow") <= quiet.answer_ns("slow") + interference_ns + top_halves_ns(platform, SLOW_US)
    budget, period, given, elapsed = flooded.given("hog")
    assert given >= elapsed // period * budget
    share, period, given, elapsed = flooded.given("echo")
    assert given <= (elapsed // period + 2) * share


def test_a_flood_is_nothing_to_a_neighbour(name: str) -> None:
    platform = platform_or_skip(name)
    quiet, flooded = watch(platform, BESIDE), watch(platform, BESIDE, FLOOD)
    assert flooded.echoed > LEAST, "nobody flooded it"
    assert [re.sub(r"\d+", "N", line) for line in flooded.other] == [re.sub(r"\d+", "N", line) for line in quiet.other]
    for line in (quiet.other, flooded.other):
        (found,) = filter(None, map(LOOP.match, line))
        assert (int(found[1]), int(found[2])) == (ROUNDS, 0)
