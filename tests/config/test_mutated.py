# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool, BH-I7.boot. Seeded damage to a good partition file: the compiler refuses or compiles, never breaks, and what it lets pass the monitor takes."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.plan import Plan

from tests.config.test_broken import BROKEN

TOKEN = re.compile(r'(\s+|[<>;{}=,&"])')
NUMBERS = ("0", "1", "77", "0x1001", "0x80000000", "0xffffffff")
ROUNDS = 25


def damaged(text: str, chance: random.Random) -> str:
    """One token lost, copied over another, or one number changed."""
    tokens = TOKEN.split(text)
    place = chance.randrange(len(tokens))
    numbers = [at for at, token in enumerate(tokens) if token.isdigit()]
    kind = chance.randrange(4)
    if kind == 0:
        tokens[place] = ""
    elif kind == 1:
        tokens[place] = tokens[chance.randrange(len(tokens))]
    elif kind == 2:
        tokens[chance.choice(numbers)] = chance.choice(NUMBERS)
    else:
        labels = [at for at in range(1, len(tokens)) if tokens[at - 1] == "&"]
        tokens[chance.choice(labels)] = tokens[chance.choice(labels)]
    return "".join(tokens)


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm"])
def test_damage_is_refused_or_harmless(platform: str, compile_on: Callable[[Path, str], Plan],
                                       monitor_refuses: Callable[[str, bytes], str], tmp_path: Path) -> None:  # fmt: skip
    good = (BROKEN / "good.dtsi").read_text()
    chance = random.Random(platform)
    for number in range(ROUNDS):
        file = tmp_path / f"{number}.dts"
        file.write_text(damaged(good, chance))
        plan = compile_on(file, platform)
        assert all(error.line > 0 for error in plan.errors)
        if plan.valid:
            assert monitor_refuses(platform, plan.table) == "", file.read_text()
