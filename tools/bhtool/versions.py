# SPDX-License-Identifier: Apache-2.0
"""Every version there is, each read from the one place that defines it. Standard library alone: asked before anything is installed.

What may change when, and what the old of each gets, is in docs/versions.md.
"""

import re

from bhtool import VERSION, paths

CONTRACT, TABLE = ("guest.h", "BH_INFO_VERSION"), ("table.h", "BH_TABLE_VERSION")


def constant(header: str, name: str) -> int:
    """An enumerator of abi/, as the monitor is compiled with it."""
    text = (paths.ABI / header).read_text(encoding="utf-8")
    found = re.search(rf"\b{name}\s*=\s*(\d+)", text)
    assert found, f"{header} defines {name}"
    return int(found[1])


def version_text() -> str:
    """One line: the release; the contract with guests; the table that image and tool share."""
    return f"bulkhead {VERSION} (guest contract {constant(*CONTRACT)}, partition table {constant(*TABLE)})"
