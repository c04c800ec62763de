# SPDX-License-Identifier: Apache-2.0
"""Which attempt of a campaign of DMA has which number: classes, edges and states take turns, so that each gets its part of however many."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from bhtool.attack.request import ANYTHING, Aim, Attempt, Outcome, Request
from bhtool.attack.stage import ENDED, OPEN, RESTARTING
from bhtool.attack.surroundings import AllSurroundings, Surroundings
from bhtool.attack.transfers import CLASSES, EDGES, Place, TransferClass, Way, as_seen, brink, is_open_in_emulator, own_ram
from bhtool.config.span import PAGE

OWN, END = 1 << 24, 1 << 25  # enum transfer_flags


@dataclass(frozen=True)
class State:
    """Of the card's entry while it attacks."""

    name: str
    cast: int
    ways: tuple[Way, ...]
    flags: int = 0


STATES = (
    State("open", OPEN, (Way.WRITE, Way.READ, Way.RECEIVE_RING, Way.SEND_RING)),
    State("restarting", RESTARTING, (Way.ARM,)),
    State("ended", ENDED, (Way.ARM,), END),
)
ALIGNED = 16  # of a ring, and so of the halves of a frame
CELLS = tuple((group, edge) for group in CLASSES for edge in EDGES)
THERE = frozenset({Outcome.RETURNED})
NOTHING_READ = frozenset({Outcome.ZERO, Outcome.REFUSED})
WENT = ANYTHING - {Outcome.ZERO}
ARMED = frozenset({Outcome.RETURNED, Outcome.STOPPED})  # by the last its sandbox restarts or ends


def _at(edge: str, page: int, way: Way, rng: random.Random) -> int:
    if edge == EDGES[0]:
        return page
    if edge == EDGES[1]:
        return page + PAGE - way.bytes
    return page + PAGE - rng.randrange(ALIGNED, way.bytes, ALIGNED)


def _brink(edge: str, end: int, way: Way) -> int:
    """How much of it is own RAM: as little as can be, as much, or half."""
    own = {EDGES[0]: ALIGNED, EDGES[1]: way.bytes - ALIGNED, EDGES[2]: way.bytes // 2}[edge]
    return end - own


def _value(way: Way, first: int = 0, count: int = 0, flags: int = 0) -> int:
    return way | first << 8 | count << 16 | flags


def draw(group: TransferClass, edge: str, way: Way, rng: random.Random, around: Surroundings, flags: int = 0) -> Attempt:
    place = rng.choice(list(group.places(around)))
    what = way.name.lower().replace("_", " ")
    if way is Way.ARM:
        return _armed(group, edge, place, rng, around, flags)
    if group.places is brink:
        address = _brink(edge, place.span.start, way)
        own = place.span.start - address
        value = _value(way, own, way.bytes - own) if way is Way.READ else _value(way, 0, own)
    else:
        pages = place.span.size // PAGE
        page = place.span.start + rng.choice((0, pages - 1, rng.randrange(pages))) * PAGE
        own_last = group.places is own_ram and edge == EDGES[2]  # its last page is followed by what is not its own
        page = place.span.start if own_last else page
        told = place.told if edge == EDGES[0] and page == place.span.start and way is Way.READ else 0
        address = _at(edge, page, way, rng) + told
        own = group.places is own_ram
        address = address if own else as_seen(address, around)
        value = _value(way, 0, way.bytes if own or way is Way.READ else 0, OWN if own else 0)
    contained = THERE if group.places is own_ram else NOTHING_READ if way in (Way.READ, Way.SEND_RING) else WENT
    return Attempt(f"{what} {address:#x} ({place.whose}), {edge}", b"", address % (1 << 64), value, Aim.DMA, contained)


def _armed(group: TransferClass, edge: str, place: Place, rng: random.Random, around: Surroundings, flags: int) -> Attempt:
    """Written when its neighbour's card sends something; nobody reports it but memory."""
    if group.places is brink:
        address = _brink(edge, place.span.start, Way.ARM)
    else:
        page = place.span.start + rng.randrange(place.span.size // PAGE) * PAGE
        own_last = group.places is own_ram and edge == EDGES[2]
        address = _at(edge, place.span.start if own_last else page, Way.ARM, rng)
        address = address if group.places is own_ram else as_seen(address, around)
    text = f"ready to write {address:#x} ({place.whose}), {edge}"
    return Attempt(text, b"", address % (1 << 64), _value(Way.ARM, flags=flags), Aim.DMA, ARMED)


def requests(all_surroundings: AllSurroundings, seed: int, attempts: int) -> list[Request]:
    return list(_requests(all_surroundings, seed, attempts))


def _requests(all_surroundings: AllSurroundings, seed: int, attempts: int) -> Iterator[Request]:
    for number in range(attempts):
        state, turn = STATES[number % len(STATES)], number // len(STATES)
        grounds = all_surroundings[state.cast]
        place, turn = turn % len(grounds), turn // len(grounds)
        group, edge = CELLS[turn % len(CELLS)]
        way = state.ways[turn // len(CELLS) % len(state.ways)]
        rng = random.Random(f"{seed}:{number}")
        attempt = draw(group, edge, way, rng, grounds[place], state.flags)
        left_out = is_open_in_emulator(group.name, attempt.value, grounds[place])
        yield Request(number, group.name, attempt, state.cast, place, edge, state.name, left_out)
