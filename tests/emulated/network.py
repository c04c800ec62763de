# SPDX-License-Identifier: Apache-2.0
"""What a test plugs a machine's network cards into: the platform as it is, with other options of its emulator."""

from dataclasses import replace

from bhtool.platforms import Platform

CARD = "e1000e,addr={}"
SLOTS = {"nic0": 1, "nic1": 7}  # QEMU's `virt`: dts/boards/qemu-virt.dtsi


def plugged(platform: Platform, wires: dict[str, str]) -> Platform:
    """Each card of `wires` leads to a back end, an option of `-netdev` without its id."""
    cards = {CARD.format(SLOTS[name]): name for name in wires}
    arguments = [f"{one},netdev={cards[one]}" if one in cards else one for one in platform.emulator.arguments]
    for name, wire in wires.items():
        arguments += ["-netdev", f"{wire},id={name}"]
    return replace(platform, emulator=replace(platform.emulator, arguments=tuple(arguments)))
