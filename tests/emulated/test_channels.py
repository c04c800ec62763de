# SPDX-License-Identifier: Apache-2.0
"""BH-F6.memory, BH-F6.messages. Two sandbox kernels send each other messages by channels of each kind, without an exit; one that begins again, or ends, is
told of; and who writes what is not its own is parked."""

import re
from collections.abc import Iterator

import pytest
from bhtool.abi import lib
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import LineEvent, Session
from bhtool.paths import PARTITIONS

from tests.emulated.channel_pair import MARKED, Pair, pair_on
from tests.emulated.scene import compile_file, platform_or_skip, scene_of
from tests.emulated.shell import LIMIT, Shell

pytestmark = pytest.mark.slow
NEW, NOTHING, NO_ROOM = "a new connection", "nothing to read", "no room"
NOBODY, NOT_ITS_TURN = "not connected yet", "the other end has not taken the last message, or what it sent was not read here"
LONG_LIMIT = 300.0
SETTLES_SECONDS = 0.01  # a kernel that has begun listens


COUNTED = re.compile(r"samples: (\D+) (\d+)$")
LEAST = (
    1500  # in two seconds, of which one may begin later than the other; a sink takes a sample only as the one after the last that it took
)


@pytest.fixture(params=MARKED)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    with pair_on(request.param) as pair:
        yield pair


def sends(shell: Shell, channel: str, text: str) -> str:
    (answer,) = shell.ask(f"send={channel},{text}")
    return answer.removeprefix(f"send {channel}: ")


def receives(shell: Shell, channel: str) -> list[str]:
    return [one.removeprefix(f"receive {channel}") for one in shell.ask(f"receive={channel}")]


def meet(pair: Pair, channel: str) -> None:
    """Each end has looked at the channel once, and says so to the other."""
    receives(pair.control, channel)
    receives(pair.sensor, channel)


def test_messages_come_in_order_and_as_they_were_sent(pair: Pair) -> None:
    meet(pair, "samples")
    assert [sends(pair.sensor, "samples", text) for text in ("one", "two", "three", "four", "five")] == [*["done"] * 4, NO_ROOM]
    said = [receives(pair.control, "samples") for _ in range(5)]
    assert said == [[" 0: one"], [" 1: two"], [" 2: three"], [" 3: four"], [f": {NOTHING}"]]
    assert sends(pair.sensor, "samples", "x" * 65) == "too long"

    meet(pair, "speed")
    assert [sends(pair.sensor, "speed", text) for text in ("50", "60")] == ["done", "done"]
    assert receives(pair.control, "speed") == receives(pair.control, "speed") == [" 1: 60"]

    meet(pair, "orders")
    assert sends(pair.control, "orders", "faster") == "done"
    assert sends(pair.control, "orders", "slower") == NOT_ITS_TURN
    assert sends(pair.sensor, "orders", "why") == NOT_ITS_TURN  # it is asked first
    assert receives(pair.sensor, "orders") == [" 0: faster"]
    assert sends(pair.sensor, "orders", "why") == "done"
    assert receives(pair.control, "orders") == [" 0: why"]
    for name in ("sensor", "control"):
        assert not any(pair.session.watches[name].exits_steady().values())


def test_a_life_ends_and_with_it_what_was_under_way(pair: Pair) -> None:
    meet(pair, "samples")
    assert sends(pair.sensor, "samples", "lost") == "done"
    pair.sensor.type("reboot\r")
    assert any(line == "alive" for line in pair.sensor.said())
    pair.sensor.wait(SETTLES_SECONDS)
    assert pair.sensor.ask("life") == ["life 1"]
    assert receives(pair.control, "samples") == [f": {NEW}", f": {NOBODY}"]
    meet(pair, "samples")
    assert sends(pair.sensor, "samples", "again") == "done"
    assert sends(pair.sensor, "samples", "and-again") == "done"
    assert receives(pair.control, "samples") == [" 0: again"]
    pair.sensor.type("park\r")
    for _ in pair.session.events(LIMIT):
        if pair.session.watches["sensor"].settled:
            break
    assert receives(pair.control, "samples") == [" 1: and-again"]  # it was sent before
    assert receives(pair.control, "samples") == [": the other end is gone"]
    assert sends(pair.control, "orders", "anybody") == "the other end is gone"


@pytest.mark.parametrize("part", ["area", "page"])
def test_nobody_writes_for_the_other_end_or_for_a_monitor(pair: Pair, part: str) -> None:
    """Past its own tables, which do not let it either."""
    (region,) = [one for one in pair.session.plan.sandboxes[1].regions if one.kind == "channel" and one.permissions == "r"][:1]
    at = region.gpa if part == "area" else region.gpa + region.size - lib.BH_PAGE_BYTES
    pair.control.type(f"read={at:#x}\rwrite={at:#x},1\r")
    for _ in pair.session.events(LIMIT):
        if pair.session.watches["control"].state == "parked":  # the crash may be seen before it
            break
    assert pair.session.watches["control"].harmed
    assert pair.sensor.ask("life") == ["life 0"]


@pytest.mark.parametrize("platform", MARKED)
def test_a_sample_a_millisecond_beside_linux(platform: str) -> None:
    """Each of them comes, once, as it was sent, and within two periods of its receiver."""
    machine = platform_or_skip(platform)
    scene = scene_of(machine, compile_file(machine, PARTITIONS / "channels.dts"))
    found: dict[str, dict[str, int]] = {"sensor": {}, "control": {}}
    with Session(machine, scene.plan, Machine(machine, scene.image, timing_for(machine, scene.plan, exact=True))) as session:
        for event in session.events(LONG_LIMIT):
            if isinstance(event, LineEvent) and event.sandbox in found and (match := COUNTED.search(event.said)):
                found[event.sandbox][match[1]] = int(match[2])
            if "ns from sent to taken, at most" in found["control"] and "connections" in found["sensor"]:
                break
        exits = [session.watches[name].exits_steady() for name in found]
    sent, taken = found["sensor"], found["control"]
    assert min(sent["sent"], taken["taken"]) > LEAST, (sent, taken)
    assert taken["not as a source sends them"] == taken["damaged"] == sent["kept back, as the channel was full,"] == 0
    assert sent["connections"] == taken["connections"] == 1
    assert taken["ns from sent to taken, at most"] < 2_000_000
    assert not any(any(one.values()) for one in exits)
