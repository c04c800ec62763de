# SPDX-License-Identifier: Apache-2.0
"""Requirements, as docs/requirements.toml has them, and one for each rule of the checker."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from bhtool import paths
from bhtool.codes.rules import literal_rules
from bhtool.errors import BulkheadError, Status
from bhtool.evidence.claims import HOST

DOCUMENT = paths.ROOT / "docs" / "requirements.toml"
Method = Literal["test", "analysis", "review"]
METHODS: tuple[Method, ...] = get_args(Method)
KEYS = {"says", "parent", "method", "platforms", "tests", "long", "document"}


@dataclass(frozen=True)
class Requirement:
    id: str
    says: str
    parent: str
    method: Method = "test"
    platforms: tuple[str, ...] = (HOST,)  # on each of which it must be shown
    tests: tuple[str, ...] = ()  # patterns of tests that do not name it themselves
    long: bool = False  # long tests alone show it: all of them, or it is not shown
    document: str = ""  # of an analysis or review: FILE#ANCHOR below docs/


@dataclass(frozen=True)
class Catalogue:
    parents: Mapping[str, str]  # what each says, in the order of the file
    requirements: Mapping[str, Requirement]

    def children(self, parent: str) -> list[Requirement]:
        return [one for one in self.requirements.values() if one.parent == parent]


def load(file: Path = DOCUMENT) -> Catalogue:
    tree = tomllib.loads(file.read_text(encoding="utf-8"))
    groups: dict[str, list[str]] = tree["platforms"]
    own = {id: _requirement(id, row, groups) for id, row in tree["requirement"].items()}
    parents = {id: row["says"] for id, row in tree["parent"].items()}
    rules = {id: Requirement(id, holds, tree["rules"]["parent"]) for id, holds, _ in literal_rules()}
    return Catalogue(parents | {tree["rules"]["parent"]: tree["rules"]["says"]}, own | rules)


def _requirement(id: str, row: dict[str, Any], groups: Mapping[str, list[str]]) -> Requirement:
    if unknown := set(row) - KEYS:
        raise BulkheadError(
            f"{DOCUMENT.name}: {id} has {', '.join(sorted(unknown))}; a requirement has {', '.join(sorted(KEYS))}", Status.FAILED
        )
    method = row.get("method", "test")
    if method not in METHODS:
        raise BulkheadError(f"{DOCUMENT.name}: {id} is shown by {method}; there is {', '.join(METHODS)}", Status.FAILED)
    platforms = tuple(name for group in row.get("platforms", [HOST]) for name in groups.get(group, [group]))
    return Requirement(
        id,
        row["says"],
        row.get("parent", id.partition(".")[0]),
        method,
        platforms,
        tests=tuple(row.get("tests", ())),
        long=row.get("long", False),
        document=row.get("document", ""),
    )
