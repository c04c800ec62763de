# SPDX-License-Identifier: Apache-2.0
"""The rules of the checker, with what codes.whys adds. config/rules.py is read as text: to import it takes a compiler and libfdt."""

from __future__ import annotations

import ast

from bhtool.codes.entry import Entry
from bhtool.codes.whys import WHYS, Why
from bhtool.paths import ROOT

SOURCE = ROOT / "tools" / "bhtool" / "config" / "rules.py"
RETIRED = (
    Entry("rule that is gone", "BH-R057", "Linux on a PC may own level-triggered lines since 0.2.0: see BH-R110.", aliases=("R057",)),
)


def literal_rules() -> list[tuple[str, str, str]]:
    """(identifier, what must hold, remedy) of each `Rule("BH-...", ...)`, in the order of the file."""
    calls = (node for node in ast.walk(ast.parse(SOURCE.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
    texts = ([one.value for one in call.args if isinstance(one, ast.Constant)] for call in calls if _is_rule(call))
    return [(str(id), str(holds), str(remedy)) for id, holds, remedy in (found[:3] for found in texts)]


def _is_rule(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "Rule"


def entries() -> list[Entry]:
    return [*(_entry(*rule) for rule in literal_rules()), *RETIRED]


def _entry(id: str, holds: str, remedy: str) -> Entry:
    why = WHYS.get(id, Why())
    kind = "warning of the checker" if id.startswith("BH-W") else "rule of the checker"
    means = f"{holds} {why.reason}".strip()
    return Entry(kind, id, means, None, (id.removeprefix("BH-"),), why.causes, (remedy, *why.remedies), why.example)
