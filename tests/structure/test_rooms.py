# SPDX-License-Identifier: Apache-2.0
"""The rooms of the host tool: who may import whom, in the order that tools/bhtool/__init__.py gives."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from bhtool import ROOMS, WAYS_IN

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "bhtool"
FLAT = "flat"
ORDER = (FLAT, *ROOMS, "ways in")
Graph = Mapping[str, Iterable[str]]


def module_of(path: Path) -> str:
    """Below bhtool; of a package its own name, "" of bhtool itself."""
    parts = path.relative_to(TOOL).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in TOOL.rglob("*.py")}


def imported(text: str) -> Iterator[str]:
    """All that a module imports, wherever the import stands: in a function and for types too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name the whole way"
            for one in node.names:
                name = f"{node.module}.{one.name}"
                yield name if name.removeprefix("bhtool.") in MODULES else str(node.module)


def own_imports(text: str) -> set[str]:
    """Those of modules of the tool."""
    return {name.removeprefix("bhtool").removeprefix(".") for name in imported(text) if name.split(".")[0] == "bhtool"}


GRAPH = {name: own_imports(path.read_text()) | ({name.rpartition(".")[0]} - {name}) for name, path in MODULES.items()}  # and its package


def room_of(module: str) -> str:
    if module in WAYS_IN:
        return "ways in"
    first = module.split(".")[0]
    return first if (TOOL / first / "__init__.py").is_file() and first else FLAT


def upward(graph: Graph) -> list[str]:
    rows = [(module, other) for module, others in graph.items() for other in others]
    return [f"{module} imports {other}" for module, other in rows if ORDER.index(room_of(other)) > ORDER.index(room_of(module))]


def circle(graph: Graph) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_folder_is_a_room_that_says_what_it_is() -> None:
    folders = {path.name for path in TOOL.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == set(ROOMS)
    for room in ROOMS:
        assert ast.get_docstring(ast.parse((TOOL / room / "__init__.py").read_text())), room


def test_imports_go_to_the_rooms_below() -> None:
    found = upward(GRAPH)
    assert not found, "\n".join(found)


def test_no_circle_of_imports() -> None:
    found = circle(GRAPH)
    assert not found, " -> ".join(found)


@pytest.mark.parametrize(
    ("module", "other"), [("text", "terminal.screen"), ("config.plan", "image.stages"), ("machine.session", "verbs.run"), ("verbs", "cli")]
)
def test_an_upward_import_is_found(module: str, other: str) -> None:
    assert upward({module: [other]}) == [f"{module} imports {other}"]
    assert not upward({other: [module]})


def test_a_circle_is_found_wherever_its_imports_stand() -> None:
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from bhtool.config import tree\n\ndef late():\n    from bhtool.config.plan import Plan\n"
    assert own_imports(text) == {"config.tree", "config.plan"}
    assert set(circle({**GRAPH, "config.plan": ["config.explain"]})) >= {"config.explain", "config.plan"}
