# SPDX-License-Identifier: Apache-2.0
"""Where everything in the picture of a split machine lies, in inches from its lower left corner, and how large its text is.

title
arcs                who may reach whom
sandboxes           a card each
cores │ memory      to scale, and below that readable │ devices
key
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from bhtool.config.explain import MONITOR
from bhtool.config.plan import ReachKind
from bhtool.picture.split import MEANING, NOBODY, Card, Core, Gear, Reach, Split, Stretch
from bhtool.text import size_text

WIDTH, MARGIN, LABELS = 12.0, 0.3, 1.0  # the row's names are left of LABELS + MARGIN
GAP, ROW_GAP = 0.12, 0.34
CARD_LINE, CARD_BAND, WIDEST_CARD = 0.2, 0.32, 3.4
CORE_WIDTH, CORE_HEIGHT = 0.98, 0.5
SCALE_HEIGHT, FAN_HEIGHT, STRETCH_HEIGHT, NARROWEST, WIDE = 0.16, 0.3, 0.86, 0.3, 0.74
GEAR_HEIGHT = 0.46
CHARACTER = 0.0079  # inches a point and character, on average

Align = Literal["left", "center", "right"]


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    owner: str
    is_round: bool = True
    is_light: bool = False
    is_hatched: bool = False
    above: int = 3


@dataclass(frozen=True)
class Text:
    x: float
    y: float
    words: str
    points: float = 8
    colour: str = "ink"  # "ink", "faint", "paper", or an owner
    align: Align = "center"
    is_bold: bool = False
    is_upright: bool = False


@dataclass(frozen=True)
class Line:
    """Straight from point to point; of four points a curve."""

    points: tuple[tuple[float, float], ...]
    owner: str = NOBODY
    kind: ReachKind | None = None

    @property
    def is_arrow(self) -> bool:
        return self.kind is not None


@dataclass(frozen=True)
class Row:
    x: float
    y: float
    name: str


@dataclass
class Layout:
    width: float
    height: float = 0.0
    rows: list[Row] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


def lay_out(split: Split) -> Layout:
    """From top to bottom with y below zero; then all is moved up by the height."""
    layout = Layout(WIDTH)
    y = _head(layout, split, -MARGIN)
    y = _arcs(layout, split, y)
    y = _cards(layout, split.cards, y) - ROW_GAP
    y = _core_row(layout, split.cores, y) - ROW_GAP
    y = _memory_rows(layout, split.memory, y) - ROW_GAP
    y = _device_rows(layout, split.devices, y) - ROW_GAP
    y = _key(layout, split, y)
    return _moved(layout, MARGIN - y)


def _moved(layout: Layout, up: float) -> Layout:
    layout.height = up
    layout.rows = [Row(one.x, one.y + up, one.name) for one in layout.rows]
    layout.boxes = [Box(**{**vars(one), "y": one.y + up}) for one in layout.boxes]
    layout.texts = [Text(**{**vars(one), "y": one.y + up}) for one in layout.texts]
    layout.lines = [Line(tuple((x, y + up) for x, y in one.points), one.owner, one.kind) for one in layout.lines]
    return layout


def fitting(words: str, width: float, points: float) -> str:
    """What of one line there is room for."""
    most = max(3, int(width / (CHARACTER * points)))
    return words if len(words) <= most else words[: most - 1] + "…"


def _head(layout: Layout, split: Split, y: float) -> float:
    layout.texts.append(Text(MARGIN, y - 0.12, split.title, 15, align="left", is_bold=True))
    layout.texts.append(Text(MARGIN, y - 0.42, split.subtitle, 9.5, "faint", "left"))
    return y - 0.62


def _places(count: int) -> list[tuple[float, float]]:
    """(x, width) of so many cards."""
    left, room = MARGIN + LABELS, WIDTH - 2 * MARGIN - LABELS
    width = min(WIDEST_CARD, (room - GAP * (count - 1)) / count)
    return [(left + n * (width + GAP), width) for n in range(count)]


def _arcs(layout: Layout, split: Split, y: float) -> float:
    """Each leaves its card at a place of its own and comes down on the other's; the farther the higher. The cards' upper edge."""
    if not split.reaches:
        return y - 0.1
    places, ends = _places(len(split.cards)), _ends(split.reaches)
    heights = [0.34 + 0.15 * abs(one.source - one.target) for one in split.reaches]
    top = y - max(heights) - 0.1
    for n, (one, height) in enumerate(zip(split.reaches, heights, strict=True)):
        first, last = (_anchor(places[index], ends[index], (n, at)) for index, at in ((one.source, 0), (one.target, 1)))
        lift = height / 0.75  # a curve comes to three quarters of its handles
        points = ((first, top), (first, top + lift), (last, top + lift), (last, top + 0.02))
        layout.lines.append(Line(points, split.cards[one.source].name, one.kind))
    return top


def _ends(reaches: Sequence[Reach]) -> dict[int, list[tuple[int, int]]]:
    """(number of the arc, 0 where it begins) at each card, from left to right so that few cross."""
    found: dict[int, list[tuple[float, int, tuple[int, int]]]] = {}
    for n, one in enumerate(reaches):
        for at, (here, there) in enumerate(((one.source, one.target), (one.target, one.source))):
            side = -1 if there < here else 1
            found.setdefault(here, []).append((side, side * -abs(there - here), (n, at)))
    return {card: [end for _, _, end in sorted(ends)] for card, ends in found.items()}


def _anchor(place: tuple[float, float], ends: list[tuple[int, int]], end: tuple[int, int]) -> float:
    x, width = place
    return x + width * (ends.index(end) + 1) / (len(ends) + 1)


def _cards(layout: Layout, cards: Sequence[Card], y: float) -> float:
    height = CARD_BAND + 0.12 + CARD_LINE * max(len(one.lines) for one in cards)
    layout.rows.append(Row(MARGIN, y - height / 2, "sandboxes"))
    for (x, width), card in zip(_places(len(cards)), cards, strict=True):
        layout.boxes.append(Box(x, y - height, width, height, card.name, is_light=True))
        layout.boxes.append(Box(x, y - CARD_BAND, width, CARD_BAND, card.name, above=4))
        layout.texts.append(Text(x + 0.1, y - CARD_BAND / 2, fitting(card.name, width - 0.15, 11), 11, "paper", "left", is_bold=True))
        for n, line in enumerate(card.lines):
            place = y - CARD_BAND - 0.06 - CARD_LINE * (n + 0.5)
            layout.texts.append(Text(x + 0.1, place, fitting(line, width - 0.15, 8), 8, align="left"))
    return y - height


def _core_row(layout: Layout, cores: Sequence[Core], y: float) -> float:
    layout.rows.append(Row(MARGIN, y - CORE_HEIGHT / 2, "cores"))
    width = min(CORE_WIDTH, (WIDTH - 2 * MARGIN - LABELS + GAP) / len(cores) - GAP)
    for n, core in enumerate(cores):
        x = MARGIN + LABELS + n * (width + GAP)
        layout.boxes.append(Box(x, y - CORE_HEIGHT, width, CORE_HEIGHT, core.owner))
        colour, what = ("paper", core.owner) if core.owner else ("faint", "off")
        layout.texts.append(Text(x + width / 2, y - 0.17, f"core {core.number}", 8.5, colour, is_bold=True))
        layout.texts.append(Text(x + width / 2, y - 0.36, fitting(what, width - 0.06, 7), 7, colour))
    return y - CORE_HEIGHT


def _memory_rows(layout: Layout, memory: Sequence[Stretch], y: float) -> float:
    """A thin bar to scale, and lines from each of its stretches to a box that can be read."""
    left, room = MARGIN + LABELS, WIDTH - 2 * MARGIN - LABELS
    total, at, box_x = sum(one.size for one in memory), left, left
    widths = readable_widths(memory, room)
    low = y - SCALE_HEIGHT - FAN_HEIGHT
    layout.rows.append(Row(MARGIN, y - SCALE_HEIGHT / 2, "memory"))
    layout.texts.append(Text(MARGIN, y - SCALE_HEIGHT / 2 - 0.2, "to scale", 7, "faint", "left"))
    layout.texts.append(Text(MARGIN, low - STRETCH_HEIGHT / 2, "enlarged", 7, "faint", "left"))
    for one, width in zip(memory, widths, strict=True):
        scaled = room * one.size / total
        layout.boxes.append(Box(at, y - SCALE_HEIGHT, scaled, SCALE_HEIGHT, one.owner, is_round=False, is_hatched=scaled > 0.1))
        layout.lines.append(Line(((at, y - SCALE_HEIGHT), (box_x, low))))
        layout.boxes.append(Box(box_x, low - STRETCH_HEIGHT, width - 0.03, STRETCH_HEIGHT, one.owner, is_hatched=True))
        _stretch_text(layout, one, box_x + (width - 0.03) / 2, low, width)
        at, box_x = at + scaled, box_x + width
    layout.lines.append(Line(((at, y - SCALE_HEIGHT), (box_x - 0.03, low))))
    return low - STRETCH_HEIGHT


def readable_widths(memory: Sequence[Stretch], room: float) -> list[float]:
    """Larger is wider, but what is small can be read, too: by the logarithm of the size, none below what a line of upright text takes."""
    weights = [0.6 + max(0.0, math.log2(one.size / (64 << 10))) ** 1.25 / 8 for one in memory]
    narrow = min(NARROWEST, room / len(memory))
    spare = room - narrow * len(memory)
    return [narrow + spare * weight / sum(weights) for weight in weights]


def _stretch_text(layout: Layout, one: Stretch, x: float, y: float, width: float) -> None:
    colour = "paper" if one.owner else "faint"
    if width < WIDE:
        words = fitting(one.label, STRETCH_HEIGHT, 7)
        layout.texts.append(Text(x, y - STRETCH_HEIGHT / 2, words, 7, colour, is_bold=bool(one.owner), is_upright=True))
        return
    layout.texts.append(Text(x, y - 0.2, fitting(one.label, width - 0.1, 8), 8, colour, is_bold=bool(one.owner)))
    layout.texts.append(Text(x, y - 0.44, size_text(one.size), 8, colour))
    layout.texts.append(Text(x, y - 0.67, f"{one.start:#x}", 7, colour))


def _device_rows(layout: Layout, devices: Sequence[Gear], y: float) -> float:
    left, right = MARGIN + LABELS, WIDTH - MARGIN
    layout.rows.append(Row(MARGIN, y - GEAR_HEIGHT / 2, "devices"))
    x = left
    for one in devices:
        width = 0.24 + CHARACTER * max(8.2 * len(one.name), 7 * len(one.where))
        if x > left and x + width > right:
            x, y = left, y - GEAR_HEIGHT - GAP
        colour = "paper" if one.owner else "faint"
        layout.boxes.append(Box(x, y - GEAR_HEIGHT, width, GEAR_HEIGHT, one.owner))
        layout.texts.append(Text(x + width / 2, y - 0.16, one.name, 8, colour, is_bold=True))
        layout.texts.append(Text(x + width / 2, y - 0.33, one.where, 6.5, colour))
        x += width + GAP
    return y - GEAR_HEIGHT


def _key(layout: Layout, split: Split, y: float) -> float:
    """What colours and lines mean, of those that are there."""
    x, middle = MARGIN + LABELS, y - 0.08
    for owner, words in ((MONITOR, "monitors, firmware, and what they filter"), (NOBODY, "nobody's")):
        layout.boxes.append(Box(x, y - 0.16, 0.24, 0.16, owner, is_hatched=True))
        layout.texts.append(Text(x + 0.32, middle, words, 7.5, "faint", "left"))
        x += 0.32 + len(words) * CHARACTER * 7.5 + 0.3
    for kind in dict.fromkeys(one.kind for one in split.reaches):
        layout.lines.append(Line(((x, middle), (x + 0.42, middle)), MONITOR, kind))
        layout.texts.append(Text(x + 0.5, middle, MEANING[kind], 7.5, "faint", "left"))
        x += 0.5 + len(MEANING[kind]) * CHARACTER * 7.5 + 0.3
    return y - 0.16
