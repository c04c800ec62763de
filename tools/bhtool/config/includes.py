# SPDX-License-Identifier: Apache-2.0
"""What a partition file takes in from other files, judged before any compiler opens one: a pipe or a device has no end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bhtool.config.bounded import SOURCE_BYTES, Unbounded, read_bounded, refuse_unbounded
from bhtool.config.plan import Location
from bhtool.config.rule import Finding

FILES = 200  # looked at; a chain of includes that is longer is the preprocessor's to refuse
_INCLUDE = re.compile(r'^\s*#\s*(?:include|include_next|import|embed|__include_macros)\s*(?:"(?P<quoted>[^"]+)"|<(?P<pointed>[^>]+)>)')
# A text or a character as dtc reads them, dtc-lexer.l, STRING and CHAR_LITERAL: either may have several lines, and quotes of the other's.
_TEXT = re.compile(r"""^(?P<marker># \d+ "[^\n]*)|"(?:[^"\\]|\\.)*"|'(?:\\'|[^'])*'""", re.MULTILINE | re.DOTALL)
_TAKES_IN = re.compile(r"/(?P<name>incbin|include)/")
_DEFINES = re.compile(r"^\s*#\s*define\s+([A-Za-z_]\w*)\(", re.MULTILINE)
_MARKER = re.compile(r'^# (?P<line>\d+) "(?P<file>[^"]*)"')


def endless_includes(partition: Path) -> Iterator[Finding]:
    """Every `#include` of something that is no ordinary, small file. Requires: partition is one."""
    seen, waiting = {partition.resolve()}, [partition]
    while waiting and len(seen) <= FILES:
        file = waiting.pop()
        for number, line in enumerate(read_bounded(file, SOURCE_BYTES).decode("utf-8", "replace").split("\n"), 1):
            found = _INCLUDE.match(line)
            path = _file(found["quoted"] or found["pointed"], (file.parent, partition.parent)) if found else None
            if path is None or path.resolve() in seen:
                continue
            seen.add(path.resolve())
            try:
                refuse_unbounded(path, SOURCE_BYTES)
                waiting.append(path)
            except Unbounded as error:
                yield Finding(Location(str(file), number), f"`{path}` {error}")


def texts_of(start: Path) -> tuple[bytes, ...]:
    """Of the file and of every ordinary file that it includes by name, however deep."""
    seen, waiting, found = {start.resolve()}, [start], list[bytes]()
    while waiting and len(seen) <= FILES:
        file = waiting.pop()
        with suppress(OSError, Unbounded):
            found.append(read_bounded(file, SOURCE_BYTES))
            named = filter(None, map(_INCLUDE.match, found[-1].decode("utf-8", "replace").split("\n")))
            paths = (_file(one["quoted"] or one["pointed"], (file.parent, start.parent)) for one in named)
            new = {path.resolve(): path for path in paths if path and path.resolve() not in seen}
            seen.update(new)
            waiting += new.values()
    return tuple(found)


def macros_of(*files: Path) -> list[str]:
    """The names that take an argument, of `#define` in the files and in what they include."""
    texts = (text.decode("utf-8", "replace") for file in files for text in texts_of(file))
    return list(dict.fromkeys(one for text in texts for one in _DEFINES.findall(text)))


def _file(name: str, folders: tuple[Path, ...]) -> Path | None:
    """None: there is none, which the preprocessor says."""
    return next((path for folder in folders if (path := folder / name).exists() and not path.is_dir()), None)


def lines_of(text: bytes) -> Iterator[tuple[Location, str]]:
    """The lines of a preprocessed source, each with where it was written."""
    file, number = "", 0
    for line in text.decode("utf-8", "surrogateescape").split("\n"):
        marker = _MARKER.match(line)
        if marker:
            file, number = marker["file"], int(marker["line"])
        else:
            yield Location(file, number), line
            number += 1


def code_lines(text: bytes) -> Iterator[tuple[Location, str]]:
    """The lines of a preprocessed source with its texts and characters taken out, each with where it was written."""
    code = _TEXT.sub(lambda one: one["marker"] or '""' + "\n" * one[0].count("\n"), text.decode("utf-8", "surrogateescape"))
    return lines_of(code.encode("utf-8", "surrogateescape"))


def raw_files(text: bytes) -> Iterator[Finding]:
    """Every file that dtc itself would take in, past the preprocessor."""
    for where, line in code_lines(text):
        for found in _TAKES_IN.finditer(line):
            yield Finding(where, f"`/{found['name']}/` takes in a file as it is, whatever its kind and size")
