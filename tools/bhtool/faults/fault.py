# SPDX-License-Identifier: Apache-2.0
"""One fault: which bit of what, and when. Seed and number decide it, together with the regions of the machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

STEPS = 24  # inside of a monitor: instructions from its first
LONGER_US = 100  # by so much at most kicks are more than a millisecond apart
MOMENTS = 24  # of a seed: each needs a machine without a fault, to compare with
WORD = 8
NOT_ZERO = 0.5  # share of draws that go to words which are not 0, where there are any


@dataclass(frozen=True)
class Region:
    """What of the victim is hit. `words`: host-physical addresses of its 64-bit words; `filled`: of those that are not 0."""

    name: str
    words: Sequence[int] = ()
    filled: Sequence[int] = ()
    registers: Sequence[tuple[str, int]] = ()  # names and bits
    in_monitor: bool = False  # of registers: while the core is in its monitor
    is_guests: bool = False  # memory that the victim may write itself
    is_judged: bool = False  # the oracle reads it


@dataclass(frozen=True)
class Moment:
    kicks: int  # of the victim until then,
    period_us: int  # so far apart
    step: int | None = None  # instructions of its core from its next exit; None: wherever it is

    def __str__(self) -> str:
        return f"{self.kicks * self.period_us} us" + ("" if self.step is None else f", an exit and {self.step} instructions")


@dataclass(frozen=True)
class Fault:
    number: int
    region: Region
    address: int  # of a word; 0: a register
    register: str
    bit: int
    moment: Moment

    @property
    def what(self) -> str:
        return self.register or f"{self.address:#x}"

    def __str__(self) -> str:
        return f"fault {self.number} ({self.region.name}): bit {self.bit} of {self.what} after {self.moment}"


def draw(seed: int, number: int, regions: Sequence[Region], first: int) -> Fault:
    """Regions take turns, so that each gets its share of any count. Moments are at between `first` and twice as many kicks."""
    region = regions[number % len(regions)]
    when = random.Random(f"{seed}, moment {number // len(regions) % MOMENTS}")
    rng = random.Random(f"{seed}, fault {number}")
    kicks, period = when.randrange(first, 2 * first), 1000 + when.randrange(LONGER_US)
    moment = Moment(kicks, period, rng.randrange(STEPS) if region.in_monitor else None)
    if region.registers:
        name, bits = rng.choice(region.registers)
        return Fault(number, region, 0, name, rng.randrange(bits), moment)
    words = region.filled if region.filled and rng.random() < NOT_ZERO else region.words
    return Fault(number, region, rng.choice(words), "", rng.randrange(WORD * 8), moment)
