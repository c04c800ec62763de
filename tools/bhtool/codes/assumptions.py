# SPDX-License-Identifier: Apache-2.0
"""What is not isolated, and so assumed of a system: docs/not-isolated.md, which is the list itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bhtool.codes.entry import Entry
from bhtool.paths import ROOT

DOCUMENT = ROOT / "docs" / "not-isolated.md"
LINE = re.compile(
    r"^- \*\*(?P<id>BH-A\d{2}): (?P<title>.+?)\*\*(?P<more>.*?)\*To verify:\* (?P<verify>.*?)(?=^- |\Z)", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")


@dataclass(frozen=True)
class Assumption:
    id: str
    title: str  # what is not isolated, in a few words
    says: str  # the whole line
    verify: str  # how whoever integrates a system shows that it holds there


def read(text: str) -> list[Assumption]:
    return [_assumption(found) for found in LINE.finditer(text)]


def _plain(text: str) -> str:
    return " ".join(LINK.sub(r"\1", text).split())


def _assumption(found: re.Match[str]) -> Assumption:
    title = _plain(found["title"])
    return Assumption(found["id"], title.rstrip("."), _plain(title + found["more"]), _plain(found["verify"]))


def assumptions() -> list[Assumption]:
    """An installation without documents has none."""
    return read(DOCUMENT.read_text(encoding="utf-8")) if DOCUMENT.exists() else []


def entries() -> list[Entry]:
    return [Entry("assumption", one.id, one.says, None, (one.id.removeprefix("BH-"),), (), (one.verify,)) for one in assumptions()]
