# SPDX-License-Identifier: Apache-2.0
"""Rules on the IOMMU: that it is the machine's, and what it tells apart."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.config.domains import Domains
from bhtool.config.iommu import BY_NUMBER
from bhtool.config.rule import Finding


def _named(number: int, registers: int, function: int) -> str:
    text = f"{BY_NUMBER[number].title} at {registers:#x}" if number in BY_NUMBER else "no IOMMU"
    return f"{text}, function {function:#x}" if function else text


def as_the_header_says(domains: Domains) -> Iterator[Finding]:
    """Start-up goes by the header: it would refuse the table, or drive registers that are elsewhere."""
    machine, kept = domains.machine, domains.machine.private
    one = machine.iommu
    said = (one.kind.number, one.registers.start, one.function) if one else (0, 0, 0)
    if said != (kept.iommu or (0, 0, 0)):
        text = f"the board tree has {_named(*said)}, and {kept.board_name} by BOARD_IOMMU {_named(*(kept.iommu or (0, 0, 0)))}"
        yield Finding(one.node.location if one else machine.root.location, text)
