# SPDX-License-Identifier: Apache-2.0
"""The stored result of a whole `--long` run, with its commit: what has been tested in full, and when."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bhtool.jsonfile import document, write
from bhtool.provision.needs import Versions
from bhtool.testing.change import LONG_RESULT, git
from bhtool.testing.selection import Selection
from bhtool.testing.tally import Tally

SCHEMA = "long-test"
VERDICTS = ("passed", "failed", "skipped")
COMMIT_DIGITS = 40


def clean_commit() -> str:
    """The commit that the sources are; empty if they are not one."""
    head = git("rev-parse", "HEAD").strip()
    return head if head and not git("status", "--porcelain").strip() else ""


def is_whole(which: str, selection: Selection) -> bool:
    return selection == Selection(long=True) and which == "all"


def parts_of(tally: Tally) -> dict[str, dict[str, float]]:
    """How the tests of each file went, and what they cost."""
    parts: dict[str, dict[str, float]] = {}
    for part, counts in sorted(tally.parts.items()):
        cpu = sum(one.seconds for one in tally.costs if one.part == part)
        parts[part] = {**{verdict: counts[verdict] for verdict in VERDICTS}, "cpu_seconds": round(cpu, 1)}
    return parts


def result_of(tally: Tally, commit: str, cpu_seconds: float, wall_seconds: float, depends: Versions) -> dict[str, Any]:
    content = {
        "commit": commit,
        "date": datetime.now(UTC).date().isoformat(),
        "passed": tally.passed,
        "failed": sorted(tally.failed),
        "skipped": sorted(tally.skipped),
        "cpu_seconds": round(cpu_seconds),
        "wall_seconds": round(wall_seconds),
        "parts": parts_of(tally),
    }
    return document(SCHEMA, content, depends)


def complaints(stored: Mapping[str, Any]) -> list[str]:
    """What is wrong with the form of a stored result."""
    found = []
    if stored.get("schema") != f"bulkhead/{SCHEMA}-v1" or not stored.get("versions"):
        found.append("schema or versions are missing")
    commit = str(stored.get("commit", ""))
    if len(commit) != COMMIT_DIGITS or set(commit) - set("0123456789abcdef"):
        found.append(f"{commit!r} is no commit")
    parts = stored.get("parts", {}).values()
    if stored.get("passed", 0) < 1 or stored["passed"] != sum(part["passed"] for part in parts):
        found.append("the parts do not add up to what passed")
    if any(not isinstance(stored.get(verdict), list) for verdict in ("failed", "skipped")):
        found.append("failed and skipped tests are not named")
    if any(stored.get(key, 0) <= 0 for key in ("cpu_seconds", "wall_seconds")):
        found.append("it took no time")
    return found


def store(result: dict[str, Any], file: Path = LONG_RESULT) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write(file, result)


def read(file: Path = LONG_RESULT) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found
