# SPDX-License-Identifier: Apache-2.0
"""A comment without its end goes on to the next one's, and takes the lines between with it: what then lacks is named far from the cause."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bhtool.config.bounded import SOURCE_BYTES, Unbounded, read_bounded
from bhtool.config.plan import Location
from bhtool.config.rule import Finding

_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*(?P<body>.*?)\*/', re.DOTALL)
_BEGINS = re.compile(r"(?<=[\s;{}])/\*")
_CODE = re.compile(r"[;{}]\s*$", re.MULTILINE)


def swallowed_lines(file: Path) -> Iterator[Finding]:
    """Every comment that takes in lines of code up to a `/*`. It may be meant so: tell of it where something else is wrong."""
    with suppress(OSError, Unbounded):
        text = read_bounded(file, SOURCE_BYTES).decode("utf-8", "replace")
        for part in _PART.finditer(text):
            lines_below = (part["body"] or "").find("\n")
            begins = _BEGINS.search(part["body"], lines_below) if lines_below >= 0 else None
            if begins and _CODE.search(part["body"][lines_below : begins.start()]):
                line = text.count("\n", 0, part.start()) + 1
                next_line = line + part["body"].count("\n", 0, begins.start())
                words = f"this comment has no `*/` before the next one begins, in line {next_line}, and takes in the lines between"
                yield Finding(Location(str(file), line), words)
