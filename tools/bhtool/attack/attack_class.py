# SPDX-License-Identifier: Apache-2.0
"""Classes of attacks: what each tries, how often at least, and what shows that it would be seen if it got through."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Literal

from bhtool.attack.request import NEVER_BACK, Aim, Attempt
from bhtool.attack.surroundings import Surroundings

Draw = Callable[[random.Random, int, Surroundings], Attempt]
STEP = 0x9E3779B1  # a prime near 2^32 over the golden ratio: strides through every space without order
STORING = ("write", "locked")  # kinds of accesses that take a value

Protection = Literal["memory", "io", "msr", "ipi", "irq"]


@dataclass(frozen=True)
class AttackClass:
    """`draw` makes the attempt with an index of its own, so that spaces that can be counted are walked through."""

    name: str
    tries: str
    share: int  # of every hundred attempts, at least
    draw: Draw
    control: Protection | None = None  # what has to be off for it to get through
    harmless: str = ""  # why there is no control
    ends: bool = False  # being contained mostly means being stopped
    endless: bool = False  # in numbers: it takes the turns of those of its kind that are used up
    cores: int = 1  # that a sandbox needs for it


def walk(index: int, size: int, offset: int = 0) -> int:
    """The index-th number below `size`: each once before one comes again."""
    assert size > 0
    stride = STEP
    while gcd(stride, size) != 1:
        stride += 2
    return (index * stride + offset) % size


def draw_access(kinds: Mapping[str, Mapping[str, bytes]], rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """A form of each kind in turn, on what the sandbox does not have."""
    kind = list(kinds)[index % len(kinds)]
    name = rng.choice(list(kinds[kind]))
    target, value = around.draw(rng), rng.getrandbits(64) if kind in STORING else 0
    return Attempt(f"{name} {target.address:#x} ({target.whose})", kinds[kind][name], target.address, value, Aim.ADDRESS, NEVER_BACK)
