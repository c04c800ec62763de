# SPDX-License-Identifier: Apache-2.0
"""BH-F6.doorbells. Who sends rings who sleeps: one exit at the sender, none at who is rung, no oftener than granted, and nobody who is not granted it."""

from collections.abc import Iterator

import pytest

from tests.emulated.channel_pair import MARKED, Pair, pair_on
from tests.emulated.shell import LIMIT, Shell

pytestmark = pytest.mark.slow
DONE, SOON, DENIED = "done", "too soon after the last one", "not granted"
GAP_SECONDS = 0.5  # of `orders`, from `control`
LEAST_EXITS = 10


@pytest.fixture(params=MARKED)
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    with pair_on(request.param) as pair:
        yield pair


def rings(shell: Shell, *channels: str) -> list[str]:
    """One after the other, as fast as the kernel reads its line."""
    return [one.split(": ", 1)[1] for one in shell.ask("\r".join(f"ring={channel}" for channel in channels))]


def rung(shell: Shell, channel: str) -> int:
    (answer,) = shell.ask(f"rung={channel}")
    return int(answer.removeprefix(f"rung {channel}: ").removesuffix(" times"))


def calls(pair: Pair, name: str) -> dict[str, int]:
    return {reason: count for reason, count in pair.session.watches[name].exits_steady().items() if count}


def test_a_ring_is_one_exit_there_and_none_here(pair: Pair) -> None:
    for n in range(LEAST_EXITS):
        assert rings(pair.sensor, "samples") == [DONE]
        assert rung(pair.control, "samples") == n + 1
    assert calls(pair, "sensor") == {"call": LEAST_EXITS}
    assert calls(pair, "control") == {} == calls(pair, "stranger")


def test_nobody_rings_sooner_than_granted_or_without_a_grant(pair: Pair) -> None:
    """BH-I4.doorbell."""
    assert rings(pair.control, "orders", "orders", "orders") == [DONE, SOON, SOON]
    assert rung(pair.sensor, "orders") == 1
    pair.control.wait(GAP_SECONDS)
    assert rings(pair.control, "orders") == [DONE]
    assert rung(pair.sensor, "orders") == 2
    assert rings(pair.sensor, "orders") == [DONE]  # each end has a rate of its own
    assert rung(pair.control, "orders") == 1
    assert rings(pair.control, "samples", "speed") == [DENIED] * 2  # one of them rings the other way alone
    assert rings(pair.sensor, "speed") == [DENIED]
    assert pair.sensor.ask("rung=speed") == ["rung speed: it has no doorbell"]


def test_who_begins_again_is_rung_again_and_who_is_gone_is_not(pair: Pair) -> None:
    assert rings(pair.control, "orders") == [DONE]
    pair.sensor.type("reboot\r")
    assert any(line == "alive" for line in pair.sensor.said())
    pair.control.wait(GAP_SECONDS)
    assert pair.sensor.ask("life") == ["life 1"]
    assert rung(pair.sensor, "orders") == 0
    assert rings(pair.control, "orders") == [DONE]
    assert rung(pair.sensor, "orders") == 1
    pair.sensor.type("park\r")
    for _ in pair.session.events(LIMIT):
        if pair.session.watches["sensor"].settled:
            break
    pair.control.wait(GAP_SECONDS)
    assert rings(pair.control, "orders") == [DONE]  # it hears nothing, and nobody else does
    assert calls(pair, "control") == {"call": 3}
    assert pair.control.ask("rung=samples") == ["rung samples: 0 times"]
