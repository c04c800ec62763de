# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool. What board.h says of RAM is judged as the board tree is (BH-R007)."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.config import compile as compiler
from bhtool.config.machine import BoardPrivate
from bhtool.config.plan import Plan
from bhtool.config.private import read_private
from bhtool.config.span import MIB2, Span

Compile = Callable[[Path, str], Plan]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
WHOLE = Span(4 << 30, MIB2)
ODD = Span(5 << 30, MIB2 + (1 << 20)), Span((6 << 30) + (1 << 20), MIB2)  # in size, in start


@pytest.mark.evidence("BH-R007")
@pytest.mark.parametrize("more", [(WHOLE,), *((one,) for one in ODD), (WHOLE, ODD[0], WHOLE), ODD])
def test_every_stretch_of_the_header_is_judged(
    compile_on: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[Span, ...]
) -> None:
    """The first is the board's own, and whole."""

    def read(board_name: str) -> BoardPrivate:
        own = read_private(board_name)
        return replace(own, ram=(*own.ram, *more))

    monkeypatch.setattr(compiler, "read_private", read)
    file = tmp_path / "f.dts"
    file.write_text(f'#include "{GOOD}"\n')
    found = [(one.rule, one.text.split(",")[0]) for one in compile_on(file, "qemu-aarch64").errors]
    assert found == [("BH-R007", f"BOARD_RAM of qemu-aarch64 has {span}") for span in more if span in ODD]
