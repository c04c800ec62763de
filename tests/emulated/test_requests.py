# SPDX-License-Identifier: Apache-2.0
"""BH-F6.request. Channels that are opened and closed while both ends run: who closes, ends or begins again takes nothing from the other end; and who looks
where a channel is closed is parked, as anywhere else that was not granted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from bhtool.machine.session import CrashEvent, LineEvent

from tests.emulated.case import ARMV7
from tests.emulated.channel_pair import PLATFORMS, Pair, pair_on
from tests.emulated.shell import LIMIT, Shell

FILE = Path(__file__).with_name("requests.dts")
MARKED = [pytest.param(name, marks=[pytest.mark.platform(name), pytest.mark.xdist_group(f"requests-{name}")]) for name in PLATFORMS]
pytestmark = pytest.mark.slow
VAST = FILE.with_name("requests_vast.dts")
WIDE = [one for one in MARKED if one.values != (ARMV7,)]  # guests with addresses of 64 bits
NEW, NOTHING, NO_ROOM = "a new connection", "nothing to read", "no room"
CLOSED, NOBODY = "it is closed", "not connected yet"
TOUCHING_MS = 5000
GIB, BEHIND = 1 << 30, 8 << 20
MANY = {"bochs-vtx": 1000}  # 10,000 elsewhere


@pytest.fixture(params=MARKED)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """`sensor` is near, which sends, `control` far."""
    with pair_on(request.param, FILE, ("near", "far")) as pair:
        yield pair


def ask(shell: Shell, words: str) -> str:
    """What the last word said, after its own name."""
    return shell.ask(words)[-1].partition(": ")[2]


def received(shell: Shell) -> list[str]:
    return [line.removeprefix("receive aside") for line in shell.ask("receive=aside")]


def connect(pair: Pair) -> None:
    """Whatever was before."""
    received(pair.control)
    received(pair.sensor)


def test_both_ends_open_it(pair: Pair) -> None:
    near, far = pair.sensor, pair.control
    assert far.ask("channels")[1:] == ["channel aside: with near, closed", "channel whole: with near, closed"]
    assert ask(near, "send=aside,early") == ask(far, "receive=aside") == CLOSED
    assert ask(near, "open=aside") == "done"
    assert ask(near, "send=aside,early") == NOBODY  # nobody is there
    assert ask(far, "open=aside") == "done"
    connect(pair)
    assert [ask(near, f"send=aside,{text}") for text in ("one", "two")] == ["done", "done"]
    assert received(far) == [" 0: one"]
    assert ask(near, "open=always") == "it is always open"
    assert ask(near, "open=nothing") == "no such channel"


def test_who_closes_takes_nothing_from_the_other(pair: Pair) -> None:
    near, far = pair.sensor, pair.control
    for shell in (near, far):
        assert ask(shell, "open=aside") == "done"
    connect(pair)
    assert [ask(near, f"send=aside,{n}") for n in range(2)] == ["done", "done"]
    assert ask(near, "close=aside") == "done"
    assert received(far) == [" 0: 0"]  # it was sent before
    assert received(far) == [" 1: 1"]
    assert received(far) == [f": {NOTHING}"]  # and not: gone
    assert ask(near, "open=aside") == "done"
    assert received(far) == [f": {NEW}", f": {NOBODY}"]
    connect(pair)
    assert ask(far, "close=aside") == "done"
    assert [ask(near, f"send=aside,{n}") for n in range(5)] == [*["done"] * 4, NO_ROOM]  # until it is full
    assert ask(far, "open=aside") == "done"
    assert ask(near, "send=aside,new") in (NOBODY, NEW)
    connect(pair)
    assert received(far) == [f": {NOTHING}"]  # of the connection before there is nothing
    assert ask(near, "send=aside,again") == "done"
    assert received(far) == [" 0: again"]


def test_a_life_finds_it_closed(pair: Pair) -> None:
    near, far = pair.sensor, pair.control
    for shell in (near, far):
        assert ask(shell, "open=aside") == "done"
    connect(pair)
    assert ask(near, "send=aside,kept") == "done"
    near.type("reboot\r")
    assert any(line == "alive" for line in near.said())
    near.wait(0.01)
    assert near.ask("life")[-1] == "life 1"
    assert received(far) == [" 0: kept"]
    assert "channel aside: with far, closed" in near.ask("channels")
    assert ask(near, "open=aside") == "done"
    assert received(far) == [f": {NEW}", f": {NOBODY}"]
    connect(pair)
    assert ask(near, "send=aside,again") == "done"
    assert received(far) == [" 0: again"]


def test_opened_and_closed_again_and_again(pair: Pair) -> None:
    """Also while the other end looks, and while it begins again: nothing is used up, and each costs one exit."""
    near, far = pair.sensor, pair.control
    many = MANY.get(pair.session.platform.name, 10_000)
    before = pair.session.watches["near"].stats
    assert before
    assert ask(far, "open=aside") == "done"
    near.type(f"reopen=aside,{many}\r")
    for life in (1, 2):
        received(far)
        far.type("reboot\r")
        assert any(line == "alive" for line in far.said())
        far.wait(0.01)
        assert ask(far, "open=aside").startswith("done")
        assert far.ask("life")[-1] == f"life {life}"
    assert near.ask("life")[-1] == "life 0"  # it is done
    pair.session.poll()
    after = pair.session.watches["near"].stats
    assert after
    assert after.exits["call"] - before.exits["call"] == 2 * many
    assert after.pool_bytes == before.pool_bytes
    assert ask(near, "open=aside") == "done"
    connect(pair)
    assert ask(near, "send=aside,still") == "done"
    assert received(far) == [" 0: still"]


def own_area(pair: Pair, name: str = "aside") -> int:
    """Where near sees it. Its kernel has it mapped all the time: what is missing when it is closed is its monitor's doing."""
    return next(one for one in pair.session.plan.sandboxes[0].regions if f"`{name}`" in one.name).gpa


def await_next_life(pair: Pair, life: int, at: int) -> None:
    """Of near, which has been caught there and begins again; of both one may be heard of first."""
    heard = set()
    for event in pair.session.events(LIMIT):
        if isinstance(event, CrashEvent):
            assert (event.crash.reason, event.crash.address) == ("memory", at)
            heard.add(event.sandbox)
        elif isinstance(event, LineEvent) and event.text == "near: alive":
            heard.add("alive")
        if heard == {"near", "alive"}:
            break
    assert heard == {"near", "alive"}
    pair.sensor.wait(0.01)
    assert pair.sensor.ask("life")[-1] == f"life {life}"


def test_nobody_remembers_what_was_closed(pair: Pair) -> None:
    """Neither the core that has reached it and closed it, nor another one that reaches it all the while, without an exit of its own."""
    near, at = pair.sensor, own_area(pair)
    assert ask(near, "open=aside") == "done"
    assert ask(near, f"touch={at:#x},0") == "1 times"
    near.type(f"close=aside\rtouch={at:#x},0\r")
    await_next_life(pair, 1, at)
    assert ask(near, "open=aside") == "done"
    near.type(f"core=1,touch={at:#x},{TOUCHING_MS}\r")
    near.wait(0.02)
    assert near.ask("life")[-1] == "life 1"  # it goes on reaching it
    near.type("close=aside\r")
    await_next_life(pair, 2, at)
    assert pair.control.ask("life")[-1] == "life 0"


@pytest.mark.parametrize("access", ["read", "write"])
def test_what_is_closed_is_not_there(pair: Pair, access: str) -> None:
    """Before it was opened, and after it was closed; the other end goes on."""
    near, far, at = pair.sensor, pair.control, own_area(pair)
    for life in range(2):
        if life:
            assert ask(near, "open=aside") == "done"
            assert near.ask(f"read={at:#x}")  # its own area
            assert ask(near, "close=aside") == "done"
        near.type(f"read={at:#x}\r" if access == "read" else f"write={at:#x},1\r")
        await_next_life(pair, life + 1, at)
    assert far.ask("life")[-1] == "life 0"
    assert pair.session.watches["near"].stats


@pytest.mark.parametrize("platform", WIDE)
def test_what_takes_more_than_a_small_stretch(platform: str) -> None:
    """The first of them goes, and the one behind it stays, and all that is smaller."""
    with pair_on(platform, VAST, ("near", "far")) as pair:
        near, far, at, other = pair.sensor, pair.control, own_area(pair, "vast"), own_area(pair, "vaster")
        assert at % GIB == other % GIB == 0 < at < other
        for name in ("vast", "vaster", "aside"):
            assert ask(near, f"open={name}") == ask(far, f"open={name}") == "done"
        for name, sends, takes in (("vast", near, far), ("vaster", far, near), ("aside", near, far)):
            takes.ask(f"receive={name}")
            sends.ask(f"receive={name}")
            takes.ask(f"receive={name}")
            assert ask(sends, f"send={name},of-{name}") == "done"
            assert [line.rpartition(": ")[2] for line in takes.ask(f"receive={name}")][-1] == f"of-{name}"
        assert ask(near, "close=vast") == "done"
        assert near.ask(f"read={other:#x}")
        near.type(f"read={at:#x}\r")
        await_next_life(pair, 1, at)
        assert ask(near, "open=vast") == "done"
        near.type(f"read={at + BEHIND:#x}\r")  # it is open, and what is behind it in its stretch is nothing
        await_next_life(pair, 2, at + BEHIND)
        assert far.ask("life")[-1] == "life 0"
