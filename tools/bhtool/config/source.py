# SPDX-License-Identifier: Apache-2.0
"""From a partition file to a tree in memory: preprocess, compile, and remember where every node and property was written.

F.dts ── clang -E ──► one source ──┬─ dtc -O dtb ──► values, read with libfdt
     (BOARD_DTSI = the board)      └─ dtc -T -T ───► file and line of each node and property
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bhtool.config.annotated import shown, take_places, too_much
from bhtool.config.board_changes import board_changes
from bhtool.config.bounded import SOURCE_BYTES, Done, Unbounded, refuse_unbounded, run_bounded
from bhtool.config.includes import endless_includes, lines_of, raw_files
from bhtool.config.plan import Diagnostic, Location
from bhtool.config.rule import Finding
from bhtool.config.rules import diagnose
from bhtool.config.tree import Node, read_blob, take_labels
from bhtool.config.wording import compilers_text, label_in

SYNTAX, ENDLESS, BOARD_CHANGED = "BH-R001", "BH-R008", "BH-R009"
DTC_WARNING = "BH-W001"
# dtc's warnings about lengths of what is read as cells, or about text that is none: a wrong value would be cut to a right one.
LENGTHS = re.compile(
    r"\((\w+_is_(cell|string|string_list)|reg_format|ranges_format|dma_ranges_format|interrupts_property|clocks_property)\)"
)

_CLANG = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_DTC_ERROR = re.compile(r"^(?:Error|FATAL ERROR): (?P<file>[^:\n]+):(?P<line>\d+)[.:-]\S* (?P<text>.*)$", re.MULTILINE)
_DTC_CHECK = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)\S*: (?P<level>ERROR|Warning) (?P<text>\(.*)$", re.MULTILINE)


class SourceError(Exception):
    """The file does not compile to a device tree."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__("\n".join(str(one) for one in diagnostics))
        self.diagnostics = diagnostics


@dataclass
class Source:
    root: Node
    warnings: list[Diagnostic]
    changes: list[Diagnostic]  # of the board


def read_source(partition: Path, board: Path) -> Source:
    """Compiles partition for board. Raises SourceError when it cannot be understood at all."""
    _look_at(partition)
    _refuse(endless_includes(partition))
    text = _preprocess(partition, board)
    root, warnings = _tree(partition, text)
    alone = _board_alone(board, _preprocess(board, board), Path.cwd())
    found = (Finding(Location(shown(one.location.file), one.location.line), one.text) for one in board_changes(root, alone, text))
    return Source(root, warnings, [diagnose(BOARD_CHANGED, one.location, one.text) for one in found])


def _tree(file: Path, text: bytes) -> tuple[Node, list[Diagnostic]]:
    start = Location(shown(str(file)), 1)
    _refuse(raw_files(text))
    blob, warnings = _compile(file, text)
    annotated = _run(file, ["dtc", "-q", "-@", "-I", "dts", "-O", "dts", "-T", "-T", "-"], text).decode("utf-8", "replace")
    _refuse(too_much(annotated, start))
    root = read_blob(blob)
    take_places(root, annotated, start)
    take_labels(root)
    return root, warnings


@functools.lru_cache(maxsize=8)
def _board_alone(board: Path, text: bytes, _: Path) -> Node:
    """Without any partition file. Its places are written as the working directory has them."""
    return _tree(board, text)[0]


def _look_at(partition: Path) -> None:
    start = Location(shown(str(partition)), 1)
    try:
        refuse_unbounded(partition, SOURCE_BYTES)
    except FileNotFoundError as error:
        raise SourceError([diagnose(SYNTAX, start, "there is no such file")]) from error
    except OSError as error:
        raise SourceError([diagnose(SYNTAX, start, f"this file cannot be read ({error.strerror})")]) from error
    except Unbounded as error:
        raise SourceError([diagnose(ENDLESS, start, f"this file {error}")]) from error


def _refuse(found: Iterable[Finding]) -> None:
    diagnostics = [diagnose(ENDLESS, Location(shown(one.location.file), one.location.line), one.text) for one in found]
    if diagnostics:
        raise SourceError(diagnostics)


def _preprocess(partition: Path, board: Path) -> bytes:
    command = ["clang-19", "-E", "-x", "assembler-with-cpp", "-nostdinc", "-undef", "-D__DTS__", "-fno-crash-diagnostics",
               f'-DBOARD_DTSI="{board.resolve()}"', f"-I{partition.resolve().parent}", str(partition.resolve())]  # fmt: skip
    return _run(partition, command, b"")


def _compile(partition: Path, text: bytes) -> tuple[bytes, list[Diagnostic]]:
    result = _start(partition, ["dtc", "-@", "-I", "dts", "-O", "dtb", "-"], text)
    messages = result.messages.decode("utf-8", "replace")
    if result.status:
        raise SourceError(_syntax_errors(partition, text, messages))
    found = [
        diagnose(SYNTAX if LENGTHS.match(one["text"]) else DTC_WARNING, _at(one), compilers_text(one["text"]))
        for one in _DTC_CHECK.finditer(messages)
    ]
    if any(one.rule == SYNTAX for one in found):
        raise SourceError(list(dict.fromkeys(one for one in found if one.rule == SYNTAX)))
    return result.output, list(dict.fromkeys(found))


def _at(found: re.Match[str]) -> Location:
    return Location(shown(found["file"]), int(found["line"]))


def _run(partition: Path, command: list[str], text: bytes) -> bytes:
    result = _start(partition, command, text)
    if result.status:
        raise SourceError(_syntax_errors(partition, text, result.messages.decode("utf-8", "replace")))
    return result.output


def _start(partition: Path, command: list[str], text: bytes) -> Done:
    try:
        return run_bounded(command, text)
    except Unbounded as error:
        raise SourceError([diagnose(ENDLESS, Location(shown(str(partition)), 1), f"this file {error}")]) from error


def _syntax_errors(partition: Path, text: bytes, messages: str) -> list[Diagnostic]:
    found = []
    for pattern in (_CLANG, _DTC_ERROR, _DTC_CHECK):
        for match in pattern.finditer(messages):
            if match.groupdict().get("level") != "Warning":
                where = _reference(text, match["text"]) or _at(match)
                found.append(diagnose(SYNTAX, where, compilers_text(match["text"])))
    last = (messages.strip().splitlines() or ["no message"])[-1]
    return found or [diagnose(SYNTAX, Location(shown(str(partition)), 1), compilers_text(last))]


def _reference(text: bytes, message: str) -> Location | None:
    """dtc tells only the node of a reference to nothing: where the preprocessed source writes the label."""
    label = label_in(message)
    written = (where for where, line in lines_of(text) if re.search(rf"&{re.escape(label)}\b", line))
    where = next(written, None) if label else None
    return where and Location(shown(where.file), where.line)
