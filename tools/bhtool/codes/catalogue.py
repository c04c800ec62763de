# SPDX-License-Identifier: Apache-2.0
"""All codes, and which of them somebody means."""

from __future__ import annotations

import difflib
import functools
import re

from bhtool.codes import assumptions, contract, dma, invariants, properties, reasons, rules
from bhtool.codes.entry import Entry

LIKELY = 0.6  # of difflib's measure: a letter or two in a short word
SUGGESTIONS = 3
RULE = re.compile(r"(?:bh-?)?([rw])([0-9]+)")
NUMBER = re.compile(r"[-+]?(0x[0-9a-f]+|[0-9]+)")


@functools.cache
def catalogue() -> tuple[Entry, ...]:
    codes = (*rules.entries(), *invariants.entries(), *assumptions.entries(), *reasons.entries(), *dma.entries(), *contract.entries())
    return (*codes, *properties.entries())


def find(code: str) -> list[Entry]:
    """Every entry of that name, alias or number. READY is a state and a hypercall, 3 is a state, a reason and a status."""
    wanted = plain(code)
    number = int(wanted, 16 if "x" in wanted else 10) if NUMBER.fullmatch(wanted) else None
    return [one for one in catalogue() if wanted in map(plain, (one.name, *one.aliases)) or (number is not None and one.number == number)]


def plain(code: str) -> str:
    """As it is compared: without case, quotation marks and what surrounds a code in a message."""
    text = code.strip().strip("`'\":,;.()[]").lower().replace("_", "-")
    return re.sub(r"^0x0*(?=[0-9a-f])", "0x", text)


def similar(code: str) -> list[str]:
    """Names that may have been meant, the nearest first."""
    names = {plain(name): name for one in catalogue() for name in (*one.aliases, one.name)}
    return [names[found] for found in difflib.get_close_matches(plain(code), names, SUGGESTIONS, LIKELY)]


def range_of(code: str) -> str:
    """Of something that looks like a rule: which there are; else empty."""
    rule = RULE.fullmatch(plain(code))
    names = [one.name for one in catalogue() if rule and one.name.lower().startswith(f"bh-{rule[1]}")]
    return f"they go from {min(names)} to {max(names)}" if names else ""


def has_more(code: str) -> bool:
    """Whether a message with this code is worth a hint to look further."""
    return any(one.has_more for one in find(code))
