# SPDX-License-Identifier: Apache-2.0
"""What must always hold: docs/invariants.md, which is the table itself."""

from __future__ import annotations

import re

from bhtool.codes.entry import Entry
from bhtool.paths import ROOT

DOCUMENT = ROOT / "docs" / "invariants.md"
ROW = re.compile(r"^\| (BH-I\S+) \| (.+?) \|$", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")


def entries() -> list[Entry]:
    """An installation without documents explains none."""
    text = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else ""
    where = "see in which code and tests it stands: grep -r {} arch hal monitor tools tests"
    return [
        Entry("invariant", id, LINK.sub(r"docs/\2", holds), None, (id.removeprefix("BH-"),), (), (where.format(id),))
        for id, holds in ROW.findall(text)
    ]
