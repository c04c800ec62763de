# SPDX-License-Identifier: Apache-2.0
"""Refuses words of a source that imitate what compilers write themselves: where a line was written, and which label a node has.

BH-R009 believes both. So lines that move others are looked for in every file that the preprocessor has opened, as it was written; nodes
that dtc makes, in what the preprocessor has left.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from bhtool.config.bounded import SOURCE_BYTES, Unbounded, read_bounded
from bhtool.config.includes import lines_of
from bhtool.config.plan import Location
from bhtool.config.rule import Finding

# C17, 6.10.4 "Line control", 5.1.1.2 "Translation phases", 6.4.6 "Punctuators"; GNU cpp, "Preprocessor Output". A directive begins its line, or
# follows a comment. What a comment within one hides is not looked for.
_MOVES = re.compile(r"(?:^|\*/)[ \t\f\v]*+(?:#|%:|\?\?=)[ \t\f\v]*+(?P<name>line(?![\w.,+?#-])|\d|/\*)", re.MULTILINE)
_SPLICE = re.compile(r"\\[ \t\f\v]*\n")
_ENTERED = re.compile(rb'^# \d+ "(?P<file>[^\n]*)" 1(?: \d)*$', re.MULTILINE)
_ESCAPED = re.compile(rb"\\([0-3][0-7]{2}|.)")  # LLVM, raw_ostream::write_escaped
_ESCAPES = {b"t": b"\t", b"n": b"\n"}
_OF_THE_COMPILER = re.compile(r"__(?:symbols|fixups|local_fixups)__")


def forged(text: bytes, partition: Path) -> Iterator[Finding]:
    """The first such line of each file, and every such node; text is the preprocessed source of `partition`."""
    entered = [_unescaped(found["file"]) for found in _ENTERED.finditer(text)]
    files = [str(partition), *(file for file in entered if not file.startswith("<"))]
    for file in dict.fromkeys(files):
        yield from _moved(Path(file))
    for where, line in lines_of(text):
        if found := _OF_THE_COMPILER.search(line):
            yield Finding(where, f"`{found[0]}` is a node that the compiler makes, of labels and references")


def _unescaped(name: bytes) -> str:
    """A file's name as it is: another file may have the name that the preprocessor writes."""
    return os.fsdecode(_ESCAPED.sub(lambda one: bytes([int(one[1], 8)]) if one[1].isdigit() else _ESCAPES.get(one[1], one[1]), name))


def _moved(file: Path) -> Iterator[Finding]:
    try:
        source = read_bounded(file, SOURCE_BYTES).decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    except (OSError, Unbounded):
        yield Finding(Location(str(file), 1), "this file is not found again under the name that the preprocessor has for it")
        return
    lines = _SPLICE.split(source)
    if found := _MOVES.search("".join(lines)):
        at = found.start("name")
        number = 1 + found.string.count("\n", 0, at) + sum(splice <= at for splice in list(accumulate(map(len, lines)))[:-1])
        text = "a comment stands in a directive, which might say" if found["name"] == "/*" else "this says"
        yield Finding(Location(str(file), number), f"{text} of the lines that follow that they stand elsewhere, as `#line` does")
