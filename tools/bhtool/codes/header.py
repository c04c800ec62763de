# SPDX-License-Identifier: Apache-2.0
"""Enumerators of abi/guest.h as text, without the compiler that bhtool.abi asks; a test holds the two together."""

from __future__ import annotations

import re

from bhtool.paths import ROOT

HEADER = ROOT / "abi" / "guest.h"
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ENUMERATOR = re.compile(r"(\w+)\s*(?:=\s*([^,]+))?")


def enumerators(enum: str) -> dict[str, int]:
    """Name to value for `enum NAME { ... }`, whose values are literals or follow the one before."""
    text = COMMENT.sub("", HEADER.read_text(encoding="utf-8"))
    body = re.search(rf"\benum {enum}\s*{{(.*?)}}", text, re.DOTALL)
    if body is None:
        return {}
    found: dict[str, int] = {}
    following = 0
    for name, value in ENUMERATOR.findall(body[1]):
        found[name] = int(value, 0) if value else following
        following = found[name] + 1
    return found
