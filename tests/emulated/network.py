# SPDX-License-Identifier: Apache-2.0
"""What a test plugs a machine's network cards into: the platform as it is, with other options of its emulator."""

from dataclasses import replace

from bhtool.platforms import Platform


def plugged(platform: Platform, wires: dict[str, str]) -> Platform:
    """Each card of `wires` leads to a back end, an option of `-netdev` without its id."""
    cards = {one.name: one for one in platform.nics}
    arguments = [*platform.emulator.arguments]
    for name, wire in wires.items():
        card = cards.pop(name)
        arguments += ["-netdev", f"{wire},id={name}", "-device", f"{card.model},addr={card.addr},netdev={name}"]
    return replace(platform, emulator=replace(platform.emulator, arguments=tuple(arguments)), nics=tuple(cards.values()))
