# SPDX-License-Identifier: Apache-2.0
"""The tables of classes in docs/attack.md: `python -m bhtool.attack.reference` prints them."""

from bhtool.attack import transfers
from bhtool.attack.attack_class import AttackClass
from bhtool.attack.generator import CLASSES, ENDING
from bhtool.families.table import FAMILIES

HEADER = ("| class | tries | of 5000 at least | off, it gets through; or why it harms nobody |", "|---|---|---|---|")


def least(one: AttackClass, classes: tuple[AttackClass, ...], attempts: int) -> int:
    """How many of so many attempts are of this class."""
    ending = int(attempts * ENDING)
    return ending // sum(other.ends for other in classes) if one.ends else one.share * ((attempts - ending) // 100)


def rows(arch: str) -> list[str]:
    classes = CLASSES[arch]
    return [
        f"| {one.name} | {one.tries} | {least(one, classes, 5000)} | {f'`{one.control}`' if one.control else one.harmless} |"
        for one in classes
    ]


def tables() -> str:
    return "\n\n".join("\n".join((f"### {FAMILIES[arch].title}", "", *HEADER, *rows(arch))) for arch in CLASSES)


def card_table() -> str:
    rows = [f"| {one.name} | {one.aims} | {one.harmless or '`dma`'} |" for one in transfers.CLASSES]
    return "\n".join(("| class | a card is aimed at | off, it gets through; or why nothing is seen |", "|---|---|---|", *rows))


if __name__ == "__main__":
    print(tables())
    print()
    print(card_table())
