# SPDX-License-Identifier: Apache-2.0
"""A file's name is no option of the programs that are told of it, whatever it begins with."""

from pathlib import Path

import pytest
from bhtool.config.bounded import Done
from bhtool.debugger.gdb import Wish, command
from bhtool.image.names import Resolver
from bhtool.platforms import load
from bhtool.report import places

NAME = "-iex=shell touch pwned"


def test_gdb_reads_symbols_of_any_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_bytes(b"")
    platform = load("qemu-aarch64")
    symbols = Resolver(platform, Path("f.dts"), lambda _: None)(NAME)
    words = command(platform, Path("port"), Wish(symbols, (), (), True))
    assert words[-1] == str(tmp_path / NAME)


def test_the_symbolizer_is_told_in_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[str]] = []

    def run(words: list[str], _: bytes) -> Done:
        told.append(words)
        return Done(0, b"{}\n", b"")

    monkeypatch.setattr(places, "run_bounded", run)
    places._symbolized(Path(NAME), (1,))
    assert told[0][1] == f"--obj={NAME}"
