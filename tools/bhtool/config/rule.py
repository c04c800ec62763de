# SPDX-License-Identifier: Apache-2.0
"""What a rule is, and what breaking one looks like."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bhtool.config.domains import Domains
from bhtool.config.plan import Location
from bhtool.config.tree import Node


@dataclass(frozen=True)
class Finding:
    """One place that breaks the rule: where, and what is wrong there."""

    location: Location
    text: str
    node: Node | None = None  # what it is about: while something else is wrong in there, too, this may follow from it


Check = Callable[[Domains], Iterable[Finding]]


@dataclass(frozen=True)
class Rule:
    """id is stable for good; holds says what must be true; remedy what to do where it is not."""

    id: str
    holds: str
    remedy: str
    check: Check | None = None  # None: found by the stage that reads or builds, not by a check over the domains
    unless: tuple[str, ...] = ()  # rules that are broken then, too: whoever mends those mends this
    # False: it tells of images, of those that the tool has not built or fetched yet, too, and nobody mends that in the file
    of_file: bool = True

    @property
    def is_warning(self) -> bool:
        return self.id.startswith("BH-W")
