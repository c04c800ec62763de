# SPDX-License-Identifier: Apache-2.0
"""From a partition file to a tree in memory: preprocess, compile, and remember where every node and property was written.

F.dts ── clang -E ──► one source ──┬─ dtc -O dtb ──► values, read with libfdt
     (BOARD_DTSI = the board)      └─ dtc -T -T ───► file and line of each node and property
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from bhtool.config.annotated import second_nodes, shown, take_places, take_statements, too_much
from bhtool.config.board_changes import board_changes
from bhtool.config.bounded import SOURCE_BYTES, Done, Unbounded, read_bounded, run_bounded
from bhtool.config.complaints import Sources, no_text, odd_lines, syntax_errors
from bhtool.config.forged import forged
from bhtool.config.includes import endless_includes, raw_files, texts_of
from bhtool.config.plan import Diagnostic, Location
from bhtool.config.rule import Finding
from bhtool.config.rules import DTC_WARNING, SYNTAX, diagnose
from bhtool.config.tree import Node, read_blob, take_labels, take_references
from bhtool.config.wording import compilers_text
from bhtool.room import require_room

ENDLESS, BOARD_CHANGED = "BH-R008", "BH-R009"
# dtc's warnings about lengths of what is read as cells, or about text that is none: a wrong value would be cut to a right one.
LENGTHS = re.compile(
    r"\((\w+_is_(cell|string|string_list)|reg_format|ranges_format|dma_ranges_format|interrupts_property|clocks_property)\)"
)

_VERSION = re.compile(rb"^/dts-v1/\s*;", re.MULTILINE)  # of dtc alone, which then keeps where references stand
_DTC_CHECK = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)\S*: Warning (?P<text>\(.*)$", re.MULTILINE)
# By dtc 1.7.2; 1.6.1 refuses the number.
_DTC_TRUNCATES = re.compile(r"^WARNING: (?P<file>[^:\n]+):(?P<line>\d+)\S*: (?P<text>Value \S+ truncated to \S+)$", re.MULTILINE)


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
    sources = _preprocess(Sources(partition, board))
    _refuse(forged(sources.text, partition), BOARD_CHANGED)
    root, warnings = _tree(sources)
    alone = _board_alone(board, texts_of(board), Path.cwd())
    changes = board_changes(root, alone, sources.text)
    found = (Finding(Location(shown(one.location.file), one.location.line), one.text) for one in changes)
    return Source(root, warnings, [diagnose(BOARD_CHANGED, one.location, one.text) for one in found])


def _tree(sources: Sources) -> tuple[Node, list[Diagnostic]]:
    start = sources.start
    _refuse(raw_files(sources.text))
    blob, warnings = _compile(sources)
    annotated = _run(sources, ["dtc", "-q", "-@", "-I", "dts", "-O", "dts", "-T", "-T", "-"]).decode("utf-8", "replace")
    _refuse(too_much(annotated, start))
    _refuse(second_nodes(annotated), SYNTAX)
    root = read_blob(blob)
    take_places(root, annotated, start)
    take_statements(root, sources.lines)
    take_labels(root)
    return root, warnings


@functools.lru_cache(maxsize=8)
def _board_alone(board: Path, _texts: tuple[bytes, ...], _folder: Path) -> Node:
    """Without any partition file, once for the same texts. Its places are written as the working directory has them."""
    sources = _preprocess(Sources(board, board))
    root, _ = _tree(sources)
    plugin = replace(sources, text=_VERSION.sub(rb"\g<0> /plugin/;", sources.text))
    take_references(root, read_blob(_run(plugin, ["dtc", "-q", "-I", "dts", "-O", "dtb", "-"])))
    return root


def _look_at(partition: Path) -> None:
    start = Location(shown(str(partition)), 1)
    try:
        if why := no_text(read_bounded(partition, SOURCE_BYTES)):
            raise SourceError([diagnose(SYNTAX, start, why)])
    except FileNotFoundError as error:
        raise SourceError([diagnose(SYNTAX, start, "there is no such file")]) from error
    except OSError as error:
        raise SourceError([diagnose(SYNTAX, start, f"this file cannot be read ({error.strerror})")]) from error
    except Unbounded as error:
        raise SourceError([diagnose(ENDLESS, start, f"this file {error}")]) from error


def _refuse(found: Iterable[Finding], rule: str = ENDLESS) -> None:
    diagnostics = [diagnose(rule, Location(shown(one.location.file), one.location.line), one.text) for one in found]
    if diagnostics:
        raise SourceError(diagnostics)


def _preprocess(sources: Sources) -> Sources:
    partition, board = sources.partition.resolve(), sources.board.resolve()
    command = ["clang-19", "-E", "-x", "assembler-with-cpp", "-nostdinc", "-undef", "-D__DTS__", "-fno-crash-diagnostics",
               f'-DBOARD_DTSI="{board}"', f"-I{partition.parent}", str(partition)]  # fmt: skip
    whole = replace(sources, text=_run(sources, command))
    if odd := list(odd_lines(whole)):
        raise SourceError(odd)
    return whole


def _compile(sources: Sources) -> tuple[bytes, list[Diagnostic]]:
    result = _start(sources, ["dtc", "-@", "-I", "dts", "-O", "dtb", "-"])
    messages = result.messages.decode("utf-8", "replace")
    if result.status:
        raise SourceError(syntax_errors(sources, messages))
    if lost := list(_DTC_TRUNCATES.finditer(messages)):
        raise SourceError(list(dict.fromkeys(diagnose(SYNTAX, _at(one), compilers_text(one["text"])) for one in lost)))
    found = [
        diagnose(SYNTAX if LENGTHS.match(one["text"]) else DTC_WARNING, _at(one), compilers_text(one["text"]))
        for one in _DTC_CHECK.finditer(messages)
    ]
    if any(one.rule == SYNTAX for one in found):
        raise SourceError(list(dict.fromkeys(one for one in found if one.rule == SYNTAX)))
    return result.output, list(dict.fromkeys(found))


def _at(found: re.Match[str]) -> Location:
    return Location(shown(found["file"]), int(found["line"]))


def _run(sources: Sources, command: list[str]) -> bytes:
    result = _start(sources, command)
    if result.status:
        raise SourceError(syntax_errors(sources, result.messages.decode("utf-8", "replace")))
    return result.output


def _start(sources: Sources, command: list[str]) -> Done:
    try:
        done = run_bounded(command, sources.text)
    except Unbounded as error:
        raise SourceError([diagnose(ENDLESS, sources.start, f"this file {error}")]) from error
    if done.status and not done.messages:
        require_room()
    return done
