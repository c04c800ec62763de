# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux, BH-F6.messages. `bulkhead bench messages`: what becomes of what its program in Linux says."""

import re

import pytest
from bhtool.bench import messages
from bhtool.bench.messages import COST, PROGRAM, SIZES, TRIPS, Found, heard, rows_of, title
from bhtool.bench.result import Row
from bhtool.errors import BulkheadError

PER_INSTRUCTION = 16  # ns
BATCH = 32


def said(what: str, way: str, size: int, instructions: int) -> str:
    return f"messages: {what} {way} {size} {instructions * PER_INSTRUCTION * BATCH} of {BATCH}"


def lines(device: int = 900, place: int = 70) -> list[str]:
    ways = {"socket": 1000, "device": device, "place": place}
    return [said(what, way, size, taken) for what in COST for way, taken in ways.items() for size in SIZES]


def rows(*runs: list[str]) -> dict[str, Row]:
    found = Found()
    for one in runs:
        heard(one, COST, found)
    return {row.name: row for row in rows_of(found, PER_INSTRUCTION)}


def share(way: str, what: str = "send") -> str:
    return f"{title(what, way, 64)}, of the socket pair's"


def test_a_figure_is_of_one_message_and_its_samples_are_runs() -> None:
    row = rows(lines(device=900), lines(device=920), lines(device=910))[title("send", "device", 64)]
    assert (row.unit, row.n, row.min, row.median, row.max) == ("instructions", 3, 900, 910, 920)


def test_a_share_is_of_the_same_run() -> None:
    slow = [re.sub(r"(\d+) of", lambda match: f"{10 * int(match[1])} of", line) for line in lines(device=800)]
    row = rows(lines(device=900), slow)[share("device")]
    assert (row.unit, row.min, row.max) == ("per cent", 80, 90)
    assert share("socket") not in rows(lines())


@pytest.mark.parametrize(("device", "met"), [(1000, True), (1011, False)])
def test_a_channel_takes_no_more_than_the_socket_pair(device: int, met: bool) -> None:
    found = rows(lines(device))
    assert {found[share("device", what)].met for what in COST} == {met}
    assert {found[share("place", what)].met for what in COST} == {True}


@pytest.mark.parametrize("left_out", range(len(lines())))
def test_what_was_not_measured_is_said(left_out: int) -> None:
    some = lines()
    gone = some.pop(left_out)
    with pytest.raises(BulkheadError, match="has not measured " + " ".join(gone.split()[1:4]) + "$"):
        heard(some, COST, Found())


def test_nothing_is_kept_of_a_run_that_failed() -> None:
    found = Found()
    with pytest.raises(BulkheadError, match="sending failed: 11"):
        heard([*lines(), "messages: sending failed: 11"], COST, found)
    assert not found


def test_a_figure_of_nothing_is_none() -> None:
    """A clock that stands."""
    still = [said("send", "socket", 64, 0) if line.startswith("messages: send socket 64 ") else line for line in lines()]
    with pytest.raises(BulkheadError, match="send socket 64"):
        heard(still, COST, Found())


def test_titles_tell_all_figures_apart() -> None:
    titles = [title(what, way, size) for what in (*COST, *TRIPS) for way in ("socket", "device", "place") for size in SIZES]
    assert len(set(titles)) == len(titles)


def constant(name: str) -> int:
    (found,) = re.findall(rf"\b{name} = (\w+)[,\s}}]", PROGRAM.read_text())
    return int(found) if found.isdigit() else constant(found)


def test_the_program_makes_as_many_round_trips_as_exits_are_divided_by() -> None:
    """Of each size through the device, and then with the answer in place."""
    assert (constant("TRIPS_WARM_UP") + constant("TRIPS")) * 2 * len(SIZES) == messages.ROUND_TRIPS
    assert constant("MOST_BYTES") == max(SIZES)


def test_the_partition_has_room_for_a_batch() -> None:
    slots = {int(one) for one in re.findall(r"slots = <(\d+)>", messages.TEMPLATE.read_text())}
    assert min(slots) >= constant("BATCH")
