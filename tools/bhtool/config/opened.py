# SPDX-License-Identifier: Apache-2.0
"""Where a preprocessed source opens each node, for what the compiler says of two of one name: it tells where the second is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from bhtool.config.includes import code_lines
from bhtool.config.plan import Location

_PATH = re.compile(r"&\{[^}]*\}")  # a reference by a path, whose braces open nothing
_STATEMENT = re.compile(r"(?P<head>[^;{}]*)(?P<end>[;{}])")
_OPENS = re.compile(r"(?P<labels>(?:\w+\s*:\s*)*)(?P<name>\S+)\s*")
_LABEL = re.compile(r"\w+")
NOWHERE = "?"  # the path of a node that is opened by a reference to one that is not known here


def opened(text: bytes) -> Iterator[tuple[str, Location]]:
    """(path, where its brace is, as dtc says it) of each node each time that it is opened, in the order of the source."""
    lines = list(code_lines(text))
    code = "\n".join(_PATH.sub("&", line) for _, line in lines)
    ends = list(accumulate((len(_PATH.sub("&", line)) + 1 for _, line in lines)))
    stack: list[str] = []
    labels: dict[str, str] = {}
    at = 0
    for statement in _STATEMENT.finditer(code):
        if statement["end"] == "}":
            del stack[-1:]
        found = _OPENS.fullmatch(statement["head"].lstrip()) if statement["end"] == "{" else None
        if found is None:
            stack += [NOWHERE] * (statement["end"] == "{")
            continue
        while ends[at] <= statement.start("end"):
            at += 1
        path = _path(stack, found["name"], labels)
        labels |= dict.fromkeys(_LABEL.findall(found["labels"]), path)
        stack.append(path)
        yield path, lines[at][0]


def _path(stack: list[str], name: str, labels: dict[str, str]) -> str:
    if name.startswith("&"):
        return labels.get(name[1:], NOWHERE)
    return f"{stack[-1].rstrip('/')}/{name}" if stack else name


def first_of(text: bytes, path: str, second: Location) -> Location | None:
    """Where the node is opened for the first time; None: not before that one."""
    first = next((where for one, where in opened(text) if one == path), None)
    return None if first == second else first
