# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/registers-*.md as data: which numbers a sandbox may read and write, and by what."""

import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
SYSTEM_FIELDS = (14, 11, 7, 3, 0)  # op0, op1, CRn, CRm, op2 as MRS and MSR have them; ARMv7's as the probe's armv7/sweeps.c packs them
DOUBLE_FIELDS = (8, 4, 0)  # coprocessor, opc1, CRm
COPROCESSORS = {3: {"p14": 0, "p15": 1}, 5: {"p14": 2, "p15": 3}}


@dataclass(frozen=True)
class Row:
    numbers: frozenset[int]
    double: bool  # of 64 bits: another space of numbers
    names: str
    access: frozenset[str]  # "read", "write"; of calls: "HVC", "SMC"
    optional: bool
    how: str


def cells(document: str, section: str) -> Iterator[list[str]]:
    """The rows of the first table of a section, without its head."""
    text = (DOCS / document).read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = list(
        itertools.takewhile(lambda line: line.startswith("|"), itertools.dropwhile(lambda line: line[:1] != "|", text.splitlines()))
    )
    for line in lines[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def span(text: str) -> range:
    """ "3" or "4-7", decimal or hexadecimal."""
    first, _, last = text.partition("-")
    return range(int(first, 0), int(last or first, 0) + 1)


def numbers_of(text: str) -> tuple[set[int], bool]:
    """One word of a number column: a range, or fields that are ranges."""
    if "," not in text:
        return set(span(text)), False
    fields = text.split(",")
    shifts = SYSTEM_FIELDS if len(fields) == len(SYSTEM_FIELDS) else DOUBLE_FIELDS
    if fields[0] in ("p14", "p15"):
        fields[0] = str(COPROCESSORS[len(fields)][fields[0]])
    values = itertools.product(*map(span, fields))
    return {sum(value << shift for value, shift in zip(one, shifts, strict=True)) for one in values}, len(fields) == len(DOUBLE_FIELDS)


@functools.cache
def rows(document: str, section: str) -> tuple[Row, ...]:
    """Words of one row are of one kind; what its last column but one says is how."""
    found = []
    for number, names, access, how, *_ in cells(document, section):
        parsed = [numbers_of(word) for word in number.split()]
        words = re.split(r",\s*", access)
        found.append(
            Row(
                frozenset().union(*(numbers for numbers, _ in parsed)),
                parsed[0][1],
                names,
                frozenset(words) - {"if there"},
                "if there" in words,
                how,
            )
        )
    return tuple(found)


def allowed(document: str, section: str, access: str, double: bool = False) -> set[int]:
    """Every number that may be accessed so."""
    return set().union(*(row.numbers for row in rows(document, section) if access in row.access and row.double == double))


def required(document: str, section: str, access: str, double: bool = False) -> set[int]:
    """Those that every machine has."""
    chosen = (row for row in rows(document, section) if access in row.access and row.double == double and not row.optional)
    return set().union(*(row.numbers for row in chosen))
