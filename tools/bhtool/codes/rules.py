# SPDX-License-Identifier: Apache-2.0
"""The rules of the checker, with what codes.whys adds. Their files are read as text: to import them takes a compiler and libfdt."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bhtool.codes.entry import Entry
from bhtool.codes.whys import WHYS, Why
from bhtool.paths import ROOT

SOURCES = [ROOT / "tools" / "bhtool" / "config" / name for name in ("rules.py", "rules_channels.py", "rules_dma.py", "rules_vcpus.py")]
RETIRED = (
    Entry("rule that is gone", "BH-R057", "Linux on a PC may own level-triggered lines since 0.2.0: see BH-R110.", aliases=("R057",)),
)


def literal_rules() -> list[tuple[str, str, str]]:
    """(identifier, what must hold, remedy) of each `Rule("BH-...", ...)`, in the order of RULES."""
    tuples: dict[str, ast.Tuple] = {}
    for source in SOURCES:
        tuples |= _tuples(ast.parse(source.read_text(encoding="utf-8")))
    texts = ([one.value for one in call.args if isinstance(one, ast.Constant)] for call in _calls(tuples, "RULES"))
    return [(str(id), str(holds), str(remedy)) for id, holds, remedy in (found[:3] for found in texts)]


def _tuples(module: ast.Module) -> dict[str, ast.Tuple]:
    """What the module assigns to names, as far as it is a tuple."""
    assigned = [one for one in module.body if isinstance(one, ast.Assign) and isinstance(one.value, ast.Tuple)]
    return {
        name.id: one.value for one in assigned for name in one.targets if isinstance(name, ast.Name) and isinstance(one.value, ast.Tuple)
    }


def _calls(tuples: dict[str, ast.Tuple], name: str) -> Iterator[ast.Call]:
    """The calls in a tuple, and in those that it takes in: `*OTHER`."""
    for one in tuples[name].elts:
        if isinstance(one, ast.Starred) and isinstance(one.value, ast.Name):
            yield from _calls(tuples, one.value.id)
        elif isinstance(one, ast.Call):
            yield one


def entries() -> list[Entry]:
    return [*(_entry(*rule) for rule in literal_rules()), *RETIRED]


def _entry(id: str, holds: str, remedy: str) -> Entry:
    why = WHYS.get(id, Why())
    kind = "warning of the checker" if id.startswith("BH-W") else "rule of the checker"
    means = f"{holds} {why.reason}".strip()
    return Entry(kind, id, means, None, (id.removeprefix("BH-"),), why.causes, (remedy, *why.remedies), why.example)
