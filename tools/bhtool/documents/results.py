# SPDX-License-Identifier: Apache-2.0
"""Measured figures kept in docs/results/: one JSON file a benchmark and platform, with the commit it was measured at.

bench boot --store   ──►   docs/results/boot-qemu-svm.json   ──►   figures   ──►   docs/*.md, README.md
"""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bhtool import paths
from bhtool.jsonfile import write

RESULTS = paths.ROOT / "docs" / "results"


@dataclass(frozen=True)
class Stored:
    """One benchmark on one platform, as its file has it."""

    bench: str
    platform: str
    document: dict[str, Any]

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """By their names; those that share one, by name and unit."""
        found = self.document.get("rows", [])
        names = Counter(row["name"] for row in found)
        return {row["name"] if names[row["name"]] == 1 else f"{row['name']}, {row['unit']}": row for row in found}


def commit() -> str:
    """What was measured: the commit, and whether the tree had changes besides those of docs/."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(paths.ROOT), *arguments], check=True, capture_output=True, text=True, timeout=30).stdout

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs").strip()
    return git("rev-parse", "--short=12", "HEAD").strip() + (" with changes" if changed else "")


def store(bench: str, platform: str, document: dict[str, Any], folder: Path = RESULTS) -> None:
    folder.mkdir(exist_ok=True)
    write(folder / f"{bench}-{platform}.json", document | {"bench": bench, "platform": platform, "commit": commit()})


def stored(folder: Path = RESULTS) -> Iterator[Stored]:
    """Those of benchmarks: the long test keeps its own there, too."""
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        if "bench" in document:
            yield Stored(document["bench"], document["platform"], document)
