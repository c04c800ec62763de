# SPDX-License-Identifier: Apache-2.0
"""From a partition file to a tree in memory: preprocess, compile, and remember where every node and property was written.

F.dts ── clang -E ──► one source ──┬─ dtc -O dtb ──► values, read with libfdt
     (BOARD_DTSI = the board)      └─ dtc -T -T ───► file and line of each node and property
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bhtool.config.plan import Diagnostic, Location
from bhtool.config.rules import diagnose
from bhtool.config.tree import Node, read_blob, take_labels
from bhtool.config.wording import compilers_text, label_in
from bhtool.errors import BulkheadError, Status

SYNTAX = "BH-R001"
DTC_WARNING = "BH-W001"
SECONDS = 120

_CLANG = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_DTC_ERROR = re.compile(r"^(?:Error|FATAL ERROR): (?P<file>[^:\n]+):(?P<line>\d+)[.:-]\S* (?P<text>.*)$", re.MULTILINE)
_DTC_CHECK = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+)\S*: (?P<level>ERROR|Warning) (?P<text>\(.*)$", re.MULTILINE)
_ANNOTATED = re.compile(r"^(?P<code>.*?) /\* (?P<places>[^*]*) \*/$")
_PLACE = re.compile(r"(?P<file>[^,]+?):(?P<line>\d+):\d+-")
_MARKER = re.compile(r'^# (?P<line>\d+) "(?P<file>[^"]*)"')
_NODE = re.compile(r"^(?:[\w]+: )*(?P<name>\S+) \{$")
_PROPERTY = re.compile(r"^(?:[\w]+: )*(?P<name>[\w,.+?#-]+)(?: = .*)?;$")


class SourceError(Exception):
    """The file does not compile to a device tree."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__("\n".join(str(one) for one in diagnostics))
        self.diagnostics = diagnostics


@dataclass
class Source:
    root: Node
    warnings: list[Diagnostic]


def read_source(partition: Path, board: Path) -> Source:
    """Compiles partition for board. Raises SourceError when it cannot be understood at all."""
    if not partition.is_file():
        raise SourceError([diagnose(SYNTAX, Location(shown(str(partition)), 1), "there is no such file")])
    text = _preprocess(partition, board)
    blob, warnings = _compile(partition, text)
    root = read_blob(blob)
    _place(root, _run(partition, ["dtc", "-q", "-@", "-I", "dts", "-O", "dts", "-T", "-T", "-"], text).decode(), partition)
    take_labels(root)
    return Source(root, warnings)


def _preprocess(partition: Path, board: Path) -> bytes:
    command = ["clang-19", "-E", "-x", "assembler-with-cpp", "-nostdinc", "-undef", "-D__DTS__",
               f'-DBOARD_DTSI="{board.resolve()}"', f"-I{partition.resolve().parent}", str(partition.resolve())]  # fmt: skip
    return _run(partition, command, b"")


def _compile(partition: Path, text: bytes) -> tuple[bytes, list[Diagnostic]]:
    result = _start(["dtc", "-@", "-I", "dts", "-O", "dtb", "-"], text)
    messages = result.stderr.decode("utf-8", "replace")
    if result.returncode:
        raise SourceError(_syntax_errors(partition, text, messages))
    warnings = [
        diagnose(DTC_WARNING, Location(shown(found["file"]), int(found["line"])), compilers_text(found["text"]))
        for found in _DTC_CHECK.finditer(messages)
    ]
    return result.stdout, list(dict.fromkeys(warnings))


def _run(partition: Path, command: list[str], text: bytes) -> bytes:
    result = _start(command, text)
    if result.returncode:
        raise SourceError(_syntax_errors(partition, text, result.stderr.decode("utf-8", "replace")))
    return result.stdout


def _start(command: list[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=text, capture_output=True, timeout=SECONDS)
    except FileNotFoundError as missing:
        raise BulkheadError(f"{command[0]} is missing; run `tools/bulkhead setup`", Status.MISSING) from missing
    except subprocess.TimeoutExpired as late:
        raise BulkheadError(f"{command[0]} did not end within {SECONDS} seconds", Status.TIME_LIMIT) from late


def _syntax_errors(partition: Path, text: bytes, messages: str) -> list[Diagnostic]:
    found = []
    for pattern in (_CLANG, _DTC_ERROR, _DTC_CHECK):
        for match in pattern.finditer(messages):
            if match.groupdict().get("level") != "Warning":
                where = _reference(text, match["text"]) or Location(shown(match["file"]), int(match["line"]))
                found.append(diagnose(SYNTAX, where, compilers_text(match["text"])))
    last = (messages.strip().splitlines() or ["no message"])[-1]
    return found or [diagnose(SYNTAX, Location(shown(str(partition)), 1), compilers_text(last))]


def _reference(text: bytes, message: str) -> Location | None:
    """dtc tells only the node of a reference to nothing: where the preprocessed source writes the label."""
    label = label_in(message)
    file, number = "", 0
    for line in text.decode("utf-8", "replace").splitlines() if label else ():
        marker = _MARKER.match(line)
        if marker:
            file, number = marker["file"], int(marker["line"]) - 1
        number += not marker
        if not marker and re.search(rf"&{re.escape(label)}\b", line):
            return Location(shown(file), number)
    return None


def shown(file: str) -> str:
    """A path as the user would write it: relative where it lies below the working directory."""
    path = Path(file).resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _place(root: Node, annotated: str, partition: Path) -> None:
    """Walks dtc's annotated output beside the tree and notes each location."""
    fallback = Location(shown(str(partition)), 1)
    stack: list[Node] = []
    for line in annotated.splitlines():
        match = _ANNOTATED.match(line.strip())
        code, location = (match["code"], _last(match["places"], fallback)) if match else (line.strip(), fallback)
        node = _NODE.match(code)
        if node:
            current = stack[-1].children[node["name"]] if stack else root
            current.location = location
            stack.append(current)
        elif code == "};":
            stack.pop()
        elif stack and (found := _PROPERTY.match(code)) and found["name"] in stack[-1].properties:
            stack[-1].properties[found["name"]].location = location


def _last(places: str, fallback: Location) -> Location:
    """A node that several files add to lies where the last of them does."""
    found = [match for match in _PLACE.finditer(places) if not match["file"].strip().startswith("<")]
    return Location(shown(found[-1]["file"].strip()), int(found[-1]["line"])) if found else fallback
