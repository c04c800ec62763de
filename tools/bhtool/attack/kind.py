# SPDX-License-Identifier: Apache-2.0
"""Kinds of campaigns: by processors, and by network cards that master the bus. Who attacks, and what is tried."""

from collections.abc import Callable
from dataclasses import dataclass

from bhtool.attack import generator, transfer_requests
from bhtool.attack.request import Request
from bhtool.attack.stage import Casts, by_cards, by_cores
from bhtool.attack.surroundings import AllSurroundings


@dataclass(frozen=True)
class Kind:
    casts: Casts
    requests: Callable[[AllSurroundings, int, int], list[Request]]  # by seed; so many


def _by_processors(all_surroundings: AllSurroundings, seed: int, attempts: int) -> list[Request]:
    return generator.requests(all_surroundings, seed, attempts, generator.ENDING)


BY_PROCESSORS = Kind(by_cores, _by_processors)
BY_CARDS = Kind(by_cards, transfer_requests.requests)
