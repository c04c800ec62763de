# SPDX-License-Identifier: Apache-2.0
"""What clang and dtc complain of, as diagnostics: one for each mistake, at its own line, and the cause before its consequences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bhtool.config.annotated import shown
from bhtool.config.includes import code_lines, lines_of, macros_of
from bhtool.config.opened import first_of
from bhtool.config.plan import Diagnostic, Location
from bhtool.config.rules import SYNTAX, diagnose
from bhtool.config.syntax import UNKNOWN, likely
from bhtool.config.wording import compilers_text, file_in, label_in, second_node_in
from bhtool.text import did_you_mean

NO_BOARD = "the board tree is missing: no line says `#include BOARD_DTSI`, without quotes, before the first node"
COMPILED = b"\xd0\x0d\xfe\xed"
UTF16 = (b"\xff\xfe", b"\xfe\xff")

_CLANG = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_CLANG_FILE = re.compile(r"^(?:fatal )?error: (?P<text>UTF-16 .* in '(?P<file>[^'\n]+)'.*)$", re.MULTILINE)
_DTC_ERROR = re.compile(
    r"^(?:Error|FATAL ERROR|Lexical error): (?P<file>[^:\n]+):(?P<line>\d+)(?:\.(?P<column>\d+))?\S* (?P<text>.*)$", re.MULTILINE
)
_DTC_CHECK = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)\S*: ERROR (?P<text>\(.*)$", re.MULTILINE)
_LABEL = re.compile(r"(?<![\w&.,-])(?P<name>[A-Za-z_]\w*):(?=\s)")
_NO_LABEL = re.compile(r"Label or path \w+ not found|non-existent node or label")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Sources:
    """What was compiled: the partition file, the board's tree, and both after the preprocessor (empty: it failed)."""

    partition: Path
    board: Path
    text: bytes = b""

    @property
    def start(self) -> Location:
        return Location(shown(str(self.partition)), 1)

    @property
    def lines(self) -> list[tuple[Location, str]]:
        return list(lines_of(self.text))

    @property
    def has_board(self) -> bool:
        return str(self.board.resolve()).encode() in self.text

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(one["name"] for _, line in self.lines for one in _LABEL.finditer(_TEXT.sub('""', line))))


def no_text(data: bytes) -> str:
    """Why a partition file cannot be read as text; empty: it can."""
    if data.startswith(UTF16):
        return "this file is UTF-16 text; save it as UTF-8"
    if data.startswith(COMPILED):
        return "this file is a compiled device tree; give its source"
    if b"\0" in data:
        return (
            f"this file has a zero byte in line {data[: data.index(0)].count(10) + 1}, so it is UTF-16 or no text at all; save it as UTF-8"
        )
    return "" if data.strip() else "this file is empty; dts/partitions has examples"


def odd_lines(sources: Sources) -> Iterator[Diagnostic]:
    """The first line whose code is no UTF-8, in whatever file; or that there is no code."""
    code = [(where, line) for where, line in sources.lines if line.strip()]
    if not code:
        yield diagnose(SYNTAX, sources.start, "this file has nothing but comments; dts/partitions has examples")
    for where, line in code:
        if odd := next((one for one in line if "\udc80" <= one <= "\udcff"), ""):
            text = f"this line has the byte {ord(odd) - 0xDC00:#x}, which is no UTF-8; save the file as UTF-8"
            yield diagnose(SYNTAX, Location(shown(where.file), where.line), text)
            return
    yield from _unreadable(sources)


def _unreadable(sources: Sources) -> Iterator[Diagnostic]:
    """Outside a text, dtc takes a byte that is not ASCII for the end of the file, without a word, and leaves out what follows."""
    for where, line in code_lines(sources.text):
        if odd := next((one for one in line if not one.isascii()), ""):
            text = f"outside a text this line has {unicodedata.name(odd, 'a character').lower()}, U+{ord(odd):04X}, where only ASCII can stand; take it out"
            yield diagnose(SYNTAX, Location(shown(where.file), where.line), text)
            return


def syntax_errors(sources: Sources, messages: str) -> list[Diagnostic]:
    """At least one. A label that is missing at several places is one mistake, and so is a board tree that gives a label to none."""
    found = list(dict.fromkeys(_found(sources, messages)))
    if found and sources.text and not sources.has_board and _misses_board(sources, messages):
        return [diagnose(SYNTAX, sources.start, NO_BOARD)]
    last = (messages.strip().splitlines() or ["no message"])[-1]
    return found or [diagnose(SYNTAX, sources.start, compilers_text(last))]


def _misses_board(sources: Sources, messages: str) -> bool:
    """Whoever writes a whole tree of their own has cores in it and says which version it is of."""
    is_whole = re.search(rb"^/dts-v1/", sources.text, re.MULTILINE)
    return not is_whole or (b"cpus {" not in sources.text and bool(_NO_LABEL.search(messages)))


def _found(sources: Sources, messages: str) -> Iterator[Diagnostic]:
    for pattern in (_CLANG, _CLANG_FILE, _DTC_ERROR, _DTC_CHECK):
        for match in pattern.finditer(messages):
            parts = match.groupdict()
            where = Location(parts["file"], int(parts.get("line") or 1))
            where, text = _judged(sources, where, int(parts.get("column") or 1), match["text"].strip())
            yield diagnose(SYNTAX, Location(shown(where.file), max(1, where.line)), text)


def _judged(sources: Sources, where: Location, column: int, message: str) -> tuple[Location, str]:
    """(where, what is wrong) in the words of who writes partition files."""
    if message == "syntax error":
        lines = sources.lines
        at = next((number for number, (place, _) in enumerate(lines) if place == where), None)
        return likely(lines, at, column, macros_of(sources.partition, sources.board)) if at is not None else (where, UNKNOWN)
    if label := label_in(message):
        return _written(sources, label) or where, compilers_text(message) + did_you_mean(label, sources.labels)
    if path := second_node_in(message):
        first = first_of(sources.text, path, where)
        place = f" (first: {shown(first.file)}:{first.line})" if first else ""
        return where, f"{compilers_text(message)}{place}; rename one of them, or put what both have into one"
    if file := file_in(message):
        if file == "BOARD_DTSI":
            return where, "`BOARD_DTSI` stands in quotes; write `#include BOARD_DTSI`"
        beside = [one.name for one in Path(where.file).parent.iterdir() if one.is_file()] if Path(where.file).parent.is_dir() else []
        return where, compilers_text(message) + did_you_mean(file, beside)
    if message.startswith('expected "FILENAME"') and (macro := _included(sources.partition, where)):
        return where, f"`#include {macro}` names no file{did_you_mean(macro, ['BOARD_DTSI'])}"
    return where, compilers_text(message)


def _included(partition: Path, where: Location) -> str:
    """The name without quotes that a line of the partition file includes."""
    if Path(where.file).resolve() != partition.resolve():
        return ""
    lines = partition.read_text(encoding="utf-8", errors="replace").split("\n")
    found = re.match(r"\s*#\s*include\s+([A-Za-z_]\w*)", lines[where.line - 1]) if where.line <= len(lines) else None
    return found[1] if found else ""


def _written(sources: Sources, label: str) -> Location | None:
    """dtc tells only the node of a reference to nothing: where the preprocessed source writes the label."""
    return next((where for where, line in sources.lines if re.search(rf"&{re.escape(label)}\b", line)), None)
