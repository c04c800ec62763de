# SPDX-License-Identifier: Apache-2.0
"""What `check --plot` draws of a plan, and that it can be read: nothing lies over anything else, and no text is wider than its box."""

from itertools import combinations
from pathlib import Path

import pytest
from bhtool.cli import loaded
from bhtool.config.explain import MONITOR
from bhtool.picture.draw import PALETTE
from bhtool.picture.layout import Box, Layout, lay_out, readable_widths
from bhtool.picture.split import Card, Core, Gear, Reach, Split, Stretch, split_of
from bhtool.terminal.screen import COLOURS
from click.testing import CliRunner

from tests.config.conftest import compile_on, files  # noqa: F401, fixtures
from tests.config.test_rest import Compile

MIB = 1 << 20
NAMES = ("engine", "brakes", "sensor", "gateway", "camera", "logger", "planner", "linux-with-a-name-of-thirty-one")


def busy(count: int) -> Split:
    """As much as a file can ask for."""
    names = NAMES[:count]
    memory = [Stretch(n << 24, 1 << (12 + 2 * n), name, name) for n, name in enumerate(names)]
    reaches = [Reach(a, b, kind) for a, b in combinations(range(count), 2) for kind in ("kick", "log", "notice")]
    return Split(
        "a file with a long name.dts",
        "on a machine",
        tuple(Card(name, ("sandbox-kernel.elf", "16 MiB", "console: log", "restarts: 1,000,000")) for name in names),
        tuple(Core(n, names[n] if n < count else "", True) for n in range(8)),
        (Stretch(0, 0x50000, MONITOR, "monitors"), *memory, Stretch(1 << 30, 1 << 30, "", "unused")),
        tuple(Gear(f"device{n}", names[n % count], f"{n << 20:#x}") for n in range(24)),
        tuple(reaches),
    )


def over(one: Box, other: Box) -> bool:
    slack = 1e-6
    beside = one.x + one.width <= other.x + slack or other.x + other.width <= one.x + slack
    return not beside and not (one.y + one.height <= other.y + slack or other.y + other.height <= one.y + slack)


def inside(layout: Layout, box: Box) -> bool:
    return box.x >= 0 and box.x + box.width <= layout.width and box.y >= 0 and box.y + box.height <= layout.height


@pytest.mark.parametrize("count", range(1, 9))
def test_nothing_lies_over_anything_else(count: int) -> None:
    layout = lay_out(busy(count))
    assert all(inside(layout, one) for one in layout.boxes)
    cards = [one for one in layout.boxes if one.is_light]
    bands = [one for one in layout.boxes if one.above == 4]
    assert len(cards) == len(bands) == count
    rest = [one for one in layout.boxes if one not in bands]
    assert not any(over(one, other) for one, other in combinations(rest, 2))
    for line in layout.lines:
        assert all(0 <= x <= layout.width and y <= layout.height + 0.2 for x, y in line.points)


def test_arrows_leave_and_reach_cards_at_places_of_their_own() -> None:
    layout = lay_out(busy(8))
    arrows = [line for line in layout.lines if len(line.points) == 4]
    ends = [x for line in arrows for x in (line.points[0][0], line.points[-1][0])]
    assert len(arrows) == 28 * 3
    assert len({round(x, 5) for x in ends}) == len(ends)


def test_what_is_small_can_be_read() -> None:
    memory = [Stretch(0, 4096, "", ""), Stretch(4096, 1 << 30, "", ""), *(Stretch(n << 31, 2 * MIB, "", "") for n in range(1, 9))]
    widths = readable_widths(memory, 10.0)
    assert sum(widths) == pytest.approx(10.0)
    assert min(widths) >= 0.3
    assert widths[1] == max(widths)


def test_a_plan_is_shown_whole(compile_on: Compile) -> None:  # noqa: F811
    """All RAM, each core, every owner; what may be kicked."""
    plan = compile_on(Path(__file__).parents[2] / "dts" / "partitions" / "linux2.dts", "qemu-aarch64")
    split = split_of(plan)
    assert sum(one.size for one in split.memory) == 2 << 30
    assert [one.start for one in split.memory][1:] == [one.start + one.size for one in split.memory][:-1]
    assert [one.owner for one in split.memory if one.owner != MONITOR] == [
        "",
        "",
        "linux",
        "control",
        "sensor",
        "",
    ]  # beside the tables of the IOMMU, which are aligned, too
    assert [(one.owner, one.boots) for one in split.cores] == [("linux", True), ("control", True), ("sensor", True), ("linux", False)]
    assert split.reaches == (Reach(1, 2, "kick"),)
    assert [(one.name, one.owner) for one in split.devices][:2] == [("uart1", "sensor"), ("uart0", "linux")]
    assert split.devices[-1].owner == MONITOR


def test_words_of_a_plan_say_whose_and_of_what(compile_on: Compile) -> None:  # noqa: F811
    split = split_of(compile_on(Path(__file__).parents[2] / "examples" / "robot.dts", "qemu-aarch64"))
    kept = [one.label for one in split.memory if "snapshot" in one.label]
    names = [card.name for card in split.cards if any(line.startswith("restarts: ") for line in card.lines)]
    assert kept
    assert all(label.split(": ")[0].split(", ")[0] in names for label in kept)
    beats = [line for card in split.cards for line in card.lines if " us" in line]
    assert beats
    assert all(line.startswith("heartbeat within ") for line in beats)


def test_colours_are_the_terminals() -> None:
    assert tuple(PALETTE) == COLOURS


def test_another_format_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    done = CliRunner().invoke(loaded("check"), ["none.dts", "--plot", str(tmp_path / "split.doc")], standalone_mode=False)
    assert "its name must end in .svg, .png or .pdf" in str(done.exception)
