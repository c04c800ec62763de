# SPDX-License-Identifier: Apache-2.0
"""Which attempt has which number: decided by the seed alone, however many follow."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from bhtool.attack import classes_aarch64, classes_armv7, classes_x86
from bhtool.attack.attack_class import AttackClass
from bhtool.attack.request import Request
from bhtool.attack.surroundings import AllSurroundings
from bhtool.errors import BulkheadError, Status
from bhtool.families.table import FAMILIES

CLASSES = {"x86_64": classes_x86.CLASSES, "aarch64": classes_aarch64.CLASSES, "armv7": classes_armv7.CLASSES}
ENDING = 0.12  # share of attempts that end the sandbox
CYCLE = 100  # of attempts that a sandbox survives
REDRAWS = 64  # before a class counts as used up


def classes_of(arch: str) -> tuple[AttackClass, ...]:
    """By the family: attacks are machine code."""
    if arch not in CLASSES:
        raise BulkheadError(f"there are no attacks for {FAMILIES[arch].title} yet: they are machine code, tools/bhtool/attack/classes_*.py")
    return CLASSES[arch]


def turns(classes: tuple[AttackClass, ...], seed: int, ending: float) -> Iterator[AttackClass]:
    """Without end. The share `ending` goes to classes that end a sandbox, in turn; the others come in shuffled hundreds by their shares."""
    lasting = [one for one in classes for _ in range(one.share)]
    assert len(lasting) == CYCLE
    fatal = [one for one in classes if one.ends]
    rng = random.Random(seed)
    owed, cycle, fatal_so_far = 0.0, list[AttackClass](), 0
    while True:
        owed += ending
        if owed >= 1:
            owed -= 1
            yield fatal[fatal_so_far % len(fatal)]
            fatal_so_far += 1
        else:
            if not cycle:
                cycle = rng.sample(lasting, CYCLE)
            yield cycle.pop()


class Fresh:
    """Attempts none of which comes twice."""

    def __init__(self, all_surroundings: AllSurroundings, seed: int) -> None:
        self._grounds, self._seed = all_surroundings, seed
        self._drawn = Counter[str]()
        self._made = set[bytes]()  # as the kernel is handed them

    def request(self, number: int, group: AttackClass) -> Request | None:
        """None: this class has none left, as far as can be seen."""
        all_surroundings = self._grounds[group.cores]
        rng = random.Random(f"{self._seed}:{number}")
        for _ in range(REDRAWS):
            place = number % len(all_surroundings)
            one = group.draw(rng, self._drawn[group.name], all_surroundings[place])
            self._drawn[group.name] += 1
            request = Request(number, group.name, one, group.cores, place)
            packed = request.pack()
            if packed not in self._made:
                self._made.add(packed)
                return request
        return None


def requests(all_surroundings: AllSurroundings, seed: int, attempts: int, ending: float) -> list[Request]:
    """All distinct. Attempt n is made from one of the all_surroundings for as many cores as it takes, in turn.

    A class that is used up leaves its turns to the endless one of its kind.
    """
    classes, fresh = classes_of(all_surroundings[1][0].arch), Fresh(all_surroundings, seed)
    endless = {one.ends: one for one in classes if one.endless}
    found = []
    for number, group in enumerate(islice(turns(classes, seed, ending), attempts)):
        request = fresh.request(number, group) or fresh.request(number, endless[group.ends])
        if not request:
            names = f"{group.name} and {endless[group.ends].name} have"
            raise BulkheadError(f"after {number} attempts {names} nothing left to try: ask for fewer", Status.USAGE)
        found.append(request)
    return found
