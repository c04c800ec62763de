# SPDX-License-Identifier: Apache-2.0
"""What a sandbox can try on channels that it opens on request: opens and closes in any order, of any number; and to reach what is closed, before it was opened,
after it was closed, or while another of its cores opens and closes it. BH_CALL_OPEN, BH_CALL_CLOSE: abi/guest.h.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from bhtool.attack.attack_class import AttackClass
from bhtool.attack.request import ANYTHING, CODE_BYTES, MASK, NEVER_BACK, Aim, Attempt, Outcome, Rival
from bhtool.attack.surroundings import OwnChannel, Surroundings

Codes = Mapping[str, bytes]
OPEN, CLOSE = 6, 7  # numbers of calls
WIDEST = 128  # bytes around an address that a form may touch
MOST_CHANNELS = 16  # BH_MAX_CHANNELS
DONE = frozenset({Outcome.ZERO})
DENIED = ANYTHING - DONE


@dataclass(frozen=True)
class Call:
    """Machine code, its first argument and its second."""

    code: bytes
    target: int
    value: int


@dataclass(frozen=True)
class Forms:
    """An architecture's accesses to an address in the first argument; and its calls. `turns` and `closing` find the channel's number in the second argument."""

    accesses: Mapping[str, Codes]  # by what they do
    call: Callable[[int, int, Surroundings], Call]  # of this number, with an argument
    turns: Callable[[int, tuple[int, int], Surroundings], bytes]  # so many calls of either number in turn
    shuffled: Callable[[int, int, Surroundings], Call]  # so many of OPEN and CLOSE, of any channel up to MOST_CHANNELS, by a seed
    closing: Callable[[bytes, Surroundings], bytes]  # reads there, closes it, and then this
    widest: int = MASK  # an argument of a call


def asked(around: Surroundings) -> list[tuple[int, OwnChannel]]:
    """Those that it opens itself, by their numbers. Without protection of memory there are none, and all are tried."""
    found = list(enumerate(around.channels))
    return [(number, one) for number, one in found if one.plan.on_request] or found


def draw_turns(forms: Forms, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    number, one = rng.choice(asked(around))
    kind, times = index % 4, rng.randrange(16, 241)
    if kind == 0:
        text = f"channel {one.plan.name} opened and closed, {times} calls"
        return Attempt(text, forms.turns(times, (OPEN, CLOSE), around), 0, number, Aim.NUMBER | Aim.PARTNER)
    if kind == 1:
        loop = forms.shuffled(times, rng.getrandbits(64) | 1, around)
        return Attempt(f"{times} calls that open and close any channel", loop.code, loop.target, loop.value, Aim.NUMBER | Aim.PARTNER)
    function = rng.choice((OPEN, CLOSE))
    if kind == 3:
        number = number_of_none(rng, around, forms.widest)
    one_call = forms.call(function, number, around)
    text = f"channel {number:#x} {'opened' if function == OPEN else 'closed'}"
    return Attempt(text, one_call.code, one_call.target, one_call.value, contained=DONE if kind == 2 else DENIED)


def number_of_none(rng: random.Random, around: Surroundings, widest: int) -> int:
    """Of no channel that it opens itself: of one that is always open, or of none at all."""
    own = [number for number, _ in asked(around)]
    edges = (
        *range(MOST_CHANNELS + 2),
        40,
        1 << 31,
        MASK >> 32,
        MASK,
        *(number | 1 << bit for number in own for bit in (4, 8, 16, 31, 32, 63)),
    )
    while True:
        number = rng.choice((rng.choice(edges), rng.choice(edges), rng.getrandbits(64))) & widest
        if number not in own:
            return number


def inside(rng: random.Random, one: OwnChannel) -> int:
    return one.gpa + (rng.randrange(one.plan.size - WIDEST) & ~15)


def draw_closed(forms: Forms, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Nobody comes back from there: what is closed is as what was never granted."""
    number, one = rng.choice(asked(around))
    kind, address = index % 4, inside(rng, one)
    kinds = ("execute",) if index % 20 == 13 else tuple(forms.accesses)
    codes = forms.accesses[rng.choice(kinds)]
    if kind == 0:
        shortened = {name: forms.closing(code, around) for name, code in codes.items()}
        codes = {name: code for name, code in shortened.items() if len(code) <= CODE_BYTES}
        name = rng.choice(list(codes))
        text = f"{name} {address:#x}, in channel {one.plan.name}, which was read and closed just before"
        return Attempt(text, codes[name], address, number, Aim.ADDRESS | Aim.PARTNER, NEVER_BACK)
    when, closed = (("before it is opened", Aim.FRESH), ("closed again", Aim.PARTNER | Aim.CLOSED), ("closed", Aim.CLOSED))[kind - 1]
    if rng.random() < 0.25:
        name = rng.choice(list(forms.accesses["read"]))
        text = f"page table at {address:#x}, in channel {one.plan.name}, {when}"
        return Attempt(text, forms.accesses["read"][name], address, 0, Aim.TABLE | closed, NEVER_BACK)
    name = rng.choice(list(codes))
    text = f"{name} {address:#x}, in channel {one.plan.name}, {when}"
    return Attempt(text, codes[name], address, rng.getrandbits(64), Aim.ADDRESS | closed, NEVER_BACK)


def draw_beside(forms: Forms, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """The other core writes to the own area without a pause, while this one opens it anew, or closes it last of all."""
    number, one = rng.choice(asked(around))
    own, times = one.areas[one.end], 2 * rng.randrange(8, 120)
    address = own.start + (rng.randrange(own.size) & ~7)
    functions, done, contained = (
        ((OPEN, OPEN), "opened anew", ANYTHING),
        ((CLOSE, CLOSE), "closed", NEVER_BACK),
        ((OPEN, CLOSE), "opened anew and closed", NEVER_BACK),
    )[index % 3]
    text = f"channel {one.plan.name} {done}, {times} calls, while another core writes to {address:#x}"
    code = forms.turns(times, functions, around)
    return Attempt(text, code, address, number, Aim.ADDRESS | Aim.PARTNER, contained, Rival.TOUCH)


def request_classes(forms: Forms, share: int) -> tuple[AttackClass, AttackClass, AttackClass]:
    return (
        AttackClass(
            "channel-turns",
            "opens and closes without a pause and in any order, of own channels on request, of others and of none",
            share,
            partial(draw_turns, forms),
            harmless="each end opens for itself: mistakes below",
        ),
        AttackClass(
            "channel-closed",
            "accesses, jumps and page tables in a channel on request that is closed",
            0,
            partial(draw_closed, forms),
            "memory",
            ends=True,
        ),
        AttackClass(
            "channel-beside",
            "the same channels, opened and closed while another core writes there",
            0,
            partial(draw_beside, forms),
            "memory",
            ends=True,
            cores=2,
        ),
    )
