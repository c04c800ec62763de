# SPDX-License-Identifier: Apache-2.0
"""docs/codes.md, made from the tables of codes so that it cannot fall behind them.

python -m bhtool.codes.reference > ../docs/codes.md        (from tools/)
"""

from __future__ import annotations

from bhtool.codes import contract, dma, reasons
from bhtool.codes.entry import Entry, number_text

HEAD = """# Codes: reasons, states, results

What `tools/bulkhead explain CODE` says of everything but the rules of the checker, which stand in [configuration](configuration.md), and the
[invariants](invariants.md). This page is generated from `tools/bhtool/codes` (`python -m bhtool.codes.reference`).
"""
SECTIONS = {
    "Why a sandbox entered its monitor, and why it crashed": reasons.entries,
    "Why an IOMMU blocked what a function did": dma.entries,
    "States of a sandbox": contract.all_states,
    "Hypercalls": contract.calls,
    "Results of hypercalls": contract.results,
    "Exit statuses of the command": contract.statuses,
}


def item(one: Entry) -> list[str]:
    number = "" if one.number is None or str(one.number) in one.name else f" ({number_text(one.number)})"
    lines = [f"- **{one.name}**{number}: {one.means}"]
    for heading, listed in (("Typical causes", one.causes), ("What to do", one.remedies)):
        if listed:
            lines += [f"  - {heading}: " + "; ".join(listed) + "."]
    return lines


def render() -> str:
    parts = [HEAD]
    for title, entries in SECTIONS.items():
        parts += [f"## {title}", "", *(line for one in entries() for line in item(one)), ""]
    return "\n".join(parts)


if __name__ == "__main__":
    print(render(), end="")
