# SPDX-License-Identifier: Apache-2.0
"""A platform whose first network card is another: its node in a board tree of a test's own, and the emulator's model of it."""

from dataclasses import dataclass, fields, replace
from pathlib import Path

from bhtool.platforms import Fitted, Platform

from tests.emulated.network import plugged
from tests.emulated.scene import platform_or_skip


@dataclass(frozen=True)
class OtherTree(Platform):
    tree: Path = Path()

    @property
    def board(self) -> Path:
        return self.tree


def with_card(folder: Path, name: str, node: str, model: str, wire: str = "user,restrict=on") -> Platform:
    """`node`: of nic0, in the slot that it has on the platform; `wire`: the other end."""
    found = platform_or_skip(name)
    tree = folder / "other.dtsi"
    tree.write_text(f'#include "{found.board}"\n/delete-node/ &nic0;\n&pci0 {{\n{node}}};\n')
    card = Fitted("nic0", model, next(one.addr for one in found.nics if one.name == "nic0"))
    nics = (card, *(one for one in found.nics if one.name != "nic0"))
    same = {one.name: getattr(found, one.name) for one in fields(Platform)}
    return plugged(replace(OtherTree(**same, tree=tree), nics=nics), {"nic0": wire})
