# SPDX-License-Identifier: Apache-2.0
"""dtc's own rendering of a tree, `-T -T`: where each node and property was written, in what form, and how much there is."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bhtool.config.plan import Location
from bhtool.config.rule import Finding
from bhtool.config.tree import Node

DEPTH, NODES, VALUE = 16, 4096, 65536  # levels, nodes, characters of a property's value
STATEMENT_LINES = 32

_ANNOTATED = re.compile(r"^(?P<code>.*?) /\* (?P<places>[^*]*) \*/$")
_PLACE = re.compile(r"(?P<file>[^,]+?):(?P<line>\d+):\d+-")
_SPAN = re.compile(r"(?P<file>[^,]+?):(?P<line>\d+):(?P<column>\d+)-(?P<last>\d+):(?P<end>\d+)(?=,|$)")
_NODE = re.compile(r"^(?:[\w]+: )*(?P<name>\S+) \{$")
_PROPERTY = re.compile(r"^(?:[\w]+: )*(?P<name>[\w,.+?#-]+)(?: = (?P<value>.*))?;$")


def too_much(annotated: str, fallback: Location) -> Iterator[Finding]:
    """The first place where a tree is deeper, larger or longer than anything that describes a machine."""
    depth = nodes = 0
    for code, places in _lines(annotated):
        depth += bool(_NODE.match(code)) - (code == "};")
        nodes += bool(_NODE.match(code))
        for what, count, most in (("levels of nodes", depth, DEPTH), ("nodes", nodes, NODES), ("characters in a value", len(code), VALUE)):
            if count > most:
                yield Finding(_last(places, fallback), f"there are more than {most} {what}")
                return


@dataclass(frozen=True)
class _Block:
    """Where braces stand, first to last: line and column each."""

    file: str
    first: tuple[int, int]
    last: tuple[int, int]

    def holds(self, other: _Block) -> bool:
        return self.file == other.file and self.first <= other.first and other.last <= self.last


def _blocks(places: str) -> list[_Block]:
    return [
        _Block(one["file"].strip(), (int(one["line"]), int(one["column"])), (int(one["last"]), int(one["end"])))
        for one in _SPAN.finditer(places)
    ]


def second_nodes(annotated: str) -> Iterator[Finding]:
    """Nodes that one block has twice. dtc refuses them only where a node is written first: in `&label { }`, and in later blocks, it adds the
    second to the first without a word. A file that is included twice has each of its blocks twice, and in each the nodes in it.
    """
    path: list[str] = []
    outer: list[Counter[_Block]] = []
    for code, places in _lines(annotated):
        if node := _NODE.match(code):
            path.append(node["name"])
            blocks = _blocks(places)
            for block, times in outer[-1].items() if outer else ():
                inside = sorted((one for one in blocks if block.holds(one)), key=lambda one: one.first)
                if len(inside) > times:
                    text = f"a second node is called `/{'/'.join(path[1:])}` (first: {shown(inside[0].file)}:{inside[0].first[0]})"
                    where = Location(inside[-1].file, inside[-1].first[0])
                    yield Finding(where, f"{text}; rename one of them, or put what both have into one")
            outer.append(Counter(blocks))
        elif code == "};":
            path.pop()
            outer.pop()


def take_places(root: Node, annotated: str, fallback: Location) -> None:
    """Notes in the tree where each node and property lies, and how its value was written."""
    stack: list[Node] = []
    for code, places in _lines(annotated):
        where = _last(places, fallback)
        node = _NODE.match(code)
        if node:
            current = stack[-1].children[node["name"]] if stack else root
            current.location = where
            stack.append(current)
        elif code == "};":
            stack.pop()
        elif stack and (found := _PROPERTY.match(code)) and (one := stack[-1].properties.get(found["name"])):
            one.location, one.written, one.is_made = where, found["value"] or "", where is fallback


def take_statements(root: Node, lines: list[tuple[Location, str]]) -> None:
    """Notes how each property's value was written before dtc resolved its references."""
    at = {(shown(where.file), where.line): number for number, (where, _) in reversed(list(enumerate(lines)))}
    for one in (one for node in root.walk() for one in node.properties.values()):
        first = at.get((one.location.file, one.location.line))
        if first is not None:
            text = "\n".join(line for _, line in lines[first : first + STATEMENT_LINES])
            found = re.search(rf"(?<![\w,.+?#-]){re.escape(one.name)}\s*=(?P<value>[^;]*);", text)
            one.source = found["value"].strip() if found else ""


def _lines(annotated: str) -> Iterator[tuple[str, str]]:
    """Each line without what dtc noted, and that: where it was written."""
    for line in annotated.splitlines():
        match = _ANNOTATED.match(line.strip())
        yield (match["code"], match["places"]) if match else (line.strip(), "")


def _last(places: str, fallback: Location) -> Location:
    """A node that several files add to lies where the last of them does."""
    found = [match for match in _PLACE.finditer(places) if not match["file"].strip().startswith("<")]
    return Location(shown(found[-1]["file"].strip()), int(found[-1]["line"])) if found else fallback


def shown(file: str) -> str:
    """A path as the user would write it: relative where it lies below the working directory."""
    return _shown(file, Path.cwd())


@functools.lru_cache(maxsize=64)  # a tree names few files, thousands of times
def _shown(file: str, here: Path) -> str:
    path = Path(file).resolve()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
