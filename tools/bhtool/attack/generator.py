# SPDX-License-Identifier: Apache-2.0
"""Which attempt has which number: decided by the seed alone, however many follow."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from bhtool.attack import classes_aarch64, classes_armv7, classes_x86
from bhtool.attack.attack_class import AttackClass
from bhtool.attack.ground import Ground
from bhtool.attack.request import Request

CLASSES = {"aarch64": classes_aarch64.CLASSES, "armv7": classes_armv7.CLASSES, "x86_64": classes_x86.CLASSES}
Grounds = dict[int, list[Ground]]  # by the cores of the sandboxes that stand there
CYCLE = 100  # of attempts that a sandbox survives


@dataclass(frozen=True)
class Turn:
    """An attempt's class, and how many of that class came before."""

    group: AttackClass
    index: int


def turns(classes: tuple[AttackClass, ...], seed: int, ending: float) -> Iterator[Turn]:
    """Without end. The share `ending` goes to classes that end a sandbox, in turn; the others come in shuffled hundreds by their shares."""
    lasting = [one for one in classes for _ in range(one.share)]
    assert len(lasting) == CYCLE
    fatal = [one for one in classes if one.ends]
    rng = random.Random(seed)
    count = dict.fromkeys((one.name for one in classes), 0)
    owed, cycle, fatal_so_far = 0.0, list[AttackClass](), 0
    while True:
        owed += ending
        if owed >= 1:
            owed -= 1
            group = fatal[fatal_so_far % len(fatal)]
            fatal_so_far += 1
        else:
            if not cycle:
                cycle = rng.sample(lasting, CYCLE)
            group = cycle.pop()
        yield Turn(group, count[group.name])
        count[group.name] += 1


def requests(grounds: Grounds, seed: int, attempts: int, ending: float) -> list[Request]:
    """Attempt n is made from one of the grounds for as many cores as it takes, in turn."""
    found = []
    for number, turn in enumerate(islice(turns(CLASSES[grounds[1][0].arch], seed, ending), attempts)):
        group, mine = turn.group, grounds[turn.group.cores]
        rng = random.Random(f"{seed}:{number}")
        found.append(Request(number, group.name, group.draw(rng, turn.index, mine[number % len(mine)]), group.cores))
    return found
