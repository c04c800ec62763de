# SPDX-License-Identifier: Apache-2.0
"""What a sandbox can try on its channels: words of its own area that no honest end writes there, so that the other end meets them; rings without a pause; and
what is not its to write, to run or to translate by. The layout: abi/channel.h.

Before each attempt of class `channel` the sandbox takes part in all of its channels (tests/guests/probe/partner.c), so that somebody listens.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from bhtool import abi
from bhtool.attack.attack_class import AttackClass
from bhtool.attack.request import ANYTHING, NEVER_BACK, NOT_DONE, Aim, Attempt
from bhtool.attack.surroundings import OwnChannel, Surroundings
from bhtool.config.span import PAGE, Span

Codes = Mapping[str, bytes]
WIDEST = 128  # bytes around an address that a form may touch
CONTROL, HEAD = abi.sizeof("bh_channel_control"), abi.sizeof("bh_channel_slot")
COUNTERS = ("epoch", "peer", "waits", "sent", "taken", "slot", "latest", "reading")
READ_BY_OTHER = {  # of a control, by kind and end
    ("ring", 0): ("epoch", "peer", "sent", "sent"),
    ("mailbox", 0): ("epoch", "peer", "sent", "taken"),
    ("latest", 0): ("epoch", "peer", "sent", "slot", "latest"),
    ("latest", 1): ("epoch", "peer", "reading"),
}
OF_A_SLOT = ("length", "length", "flags", "number", "check")
ONES = 0xFFFFFFFF


@dataclass(frozen=True)
class RingLoop:
    """Rings the other end of channel `number` so many times, with a pause in between: machine code, its first argument and its second."""

    code: bytes
    target: int
    value: int


@dataclass(frozen=True)
class Forms:
    """An architecture's accesses to an address in the first argument, and with the second; what adds that to a word there, or stores it in several."""

    reads: Codes
    writes: Codes
    execute: Codes
    add: bytes
    fill: Callable[[int, int], bytes]  # so many words, so many bytes apart, get that value
    ring: Callable[[int, int, int, Surroundings], RingLoop]  # times, rounds of the pause, number


def of_control(rng: random.Random, one: OwnChannel) -> tuple[int, str]:
    """Offset of a word in its own area, and what it is."""
    name = rng.choice(READ_BY_OTHER.get((one.plan.kind, one.end), COUNTERS) if rng.random() < 0.75 else COUNTERS)
    return int(abi.ffi.offsetof("struct bh_channel_control", name)) + (4 * rng.getrandbits(1) if name == "slot" else 0), name


def slots_of(one: OwnChannel) -> int:
    return one.plan.slots if one.end == 0 or one.plan.kind == "mailbox" else 0


def of_slot(rng: random.Random, slot: int, one: OwnChannel) -> tuple[int, str]:
    name = rng.choice(OF_A_SLOT)
    return CONTROL + slot * (HEAD + one.plan.slot_bytes) + int(abi.ffi.offsetof("struct bh_channel_slot", name)), name


def chosen(rng: random.Random, one: OwnChannel) -> int:
    """A number that is just too large, or huge; a small one: an index, an epoch of another life, flags."""
    edges = (
        0,
        one.plan.slots,
        one.plan.slots + 1,
        one.plan.slot_bytes,
        one.plan.slot_bytes + 1,
        PAGE,
        1 << 31,
        (1 << 31) - 1,
        ONES,
        ONES - 7,
    )
    return rng.choice((rng.choice(edges), rng.choice(edges), rng.randrange(64), rng.getrandbits(32)))


def draw_channel(forms: Forms, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    one, kind = rng.choice(around.channels), index % 8
    if kind == 7:
        return draw_rings(forms, rng, around)
    own = one.areas[one.end]
    aim = Aim.ADDRESS | (Aim.PARTNER if rng.random() < 0.85 else Aim.NUMBER)  # else it speaks before anybody listens
    if kind == 6:
        name, address = rng.choice(list(forms.reads)), one.gpa + rng.randrange(one.plan.size - WIDEST)
        return Attempt(f"{name} {address:#x}, of channel {one.plan.name}", forms.reads[name], address, aim=aim)
    if kind == 5:
        name, offset, value = rng.choice(list(forms.writes)), rng.randrange(own.size - WIDEST), rng.getrandbits(64)
        text = f"{name} {own.start + offset:#x}, own area of channel {one.plan.name}"
        return Attempt(text, forms.writes[name], own.start + offset, value, aim)
    if kind in (0, 1) and (slots := slots_of(one)):
        offset, what = of_slot(rng, 0, one)
        value = chosen(rng, one)
        text = f"{value:#x} as {what} of all slots in channel {one.plan.name}"
        return Attempt(text, forms.fill(slots, HEAD + one.plan.slot_bytes), own.start + offset, value, aim)
    slot = rng.randrange(slots_of(one)) if slots_of(one) and rng.getrandbits(1) else -1
    offset, what = of_slot(rng, slot, one) if slot >= 0 else of_control(rng, one)
    if kind == 4:
        value = rng.choice((1, -1, one.plan.slots, one.plan.slots + 1, -one.plan.slots)) & ONES
        return Attempt(f"{value:#x} added to {what} in channel {one.plan.name}", forms.add, own.start + offset, value, aim)
    value, name = chosen(rng, one), rng.choice(list(forms.writes))
    text = f"{name} {what} in channel {one.plan.name}, {value:#x}"
    return Attempt(text, forms.writes[name], own.start + offset, value | rng.choice((0, value, rng.getrandbits(32))) << 32, aim)


def draw_rings(forms: Forms, rng: random.Random, around: Surroundings) -> Attempt:
    times, rounds = rng.randrange(16, 129), rng.choice((1, rng.randrange(1, 1500)))
    number = rng.randrange(len(around.channels))
    loop = forms.ring(times, rounds, number, around)
    return Attempt(
        f"{times} rings of channel {number}, {rounds} rounds apart", loop.code, loop.target, loop.value, Aim.NUMBER | Aim.PARTNER, ANYTHING
    )


def _inside(rng: random.Random, span: Span) -> int:
    return span.start + (rng.randrange(span.size - WIDEST) & ~15)


def draw_bounds(forms: Forms, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Stores to what is others'; jumps; page tables; others' channels, where they lie and where they are seen."""
    one, kind = rng.choice(around.channels), index % 5
    opened = Aim.PARTNER if one.plan.on_request else Aim.NUMBER
    if kind in (0, 1):
        place, whose = (one.page, "the monitors' page") if kind else (one.areas[1 - one.end], "the other end's area")
        name, address = rng.choice(list(forms.writes)), _inside(rng, place)
        text = f"{name} {address:#x}, {whose} of channel {one.plan.name}"
        return Attempt(text, forms.writes[name], address, rng.getrandbits(64), Aim.ADDRESS | opened, NEVER_BACK)
    if kind == 2:
        name, address = rng.choice(list(forms.execute)), _inside(rng, one.span)
        return Attempt(
            f"{name} {address:#x}, in channel {one.plan.name}", forms.execute[name], address, 0, Aim.ADDRESS | opened, NEVER_BACK
        )
    if kind == 3:
        page = rng.randrange(one.plan.size // PAGE)
        contained = ANYTHING if one.areas[one.end].start <= one.gpa + page * PAGE < one.areas[one.end].end else NOT_DONE
        name = rng.choice(list(forms.reads))
        text = f"page table in page {page} of channel {one.plan.name}"
        return Attempt(text, forms.reads[name], one.gpa + page * PAGE, rng.getrandbits(64), Aim.TABLE | opened, contained)
    foreign = [(span, whose) for span, whose in around.foreign_channels if all(around.is_foreign(at) for at in (span.start, span.end - 1))]
    span, whose = rng.choice(foreign)
    kinds = {"read": forms.reads, "write": forms.writes, "execute": forms.execute}
    codes = kinds[rng.choice(list(kinds))]
    name, address = rng.choice(list(codes)), _inside(rng, span)
    return Attempt(f"{name} {address:#x} ({whose})", codes[name], address, rng.getrandbits(64), Aim.ADDRESS, NEVER_BACK)


def channel_classes(forms: Forms, share: int) -> tuple[AttackClass, AttackClass]:
    return (
        AttackClass(
            "channel",
            "words of its own ends that no honest end writes, in every width; loads of all of them; rings without a pause",
            share,
            partial(draw_channel, forms),
            harmless="the other end looks at each word: mistakes below",
        ),
        AttackClass(
            "channel-bounds",
            "the monitors' page and the other end's area, written; channels run and translated by; others' channels",
            0,
            partial(draw_bounds, forms),
            "memory",
            ends=True,
        ),
    )
