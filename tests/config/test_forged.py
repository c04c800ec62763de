# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool. What a partition file cannot make the compilers say (BH-R009): which line stands where, which cell is a reference."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.board_changes import board_changes
from bhtool.config.plan import Plan
from bhtool.config.tree import Node, Property, take_references

Compile = Callable[[Path, str], Plan]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
UART = "serial@9040000"


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ('#line 1 "board"', 2),
        ("  #\tline 1", 2),
        ('# 91 "dts/boards/qemu-virt.dtsi"', 2),
        ("%:line 7", 2),
        ("/* a comment\nof two lines */ # 1", 3),
        ("// \\\n\n#li\\\nne 3", 4),
        ("#/* hidden */line 3", 2),
        ("\r#line 3", 3),
    ],
)
@pytest.mark.parametrize("where", ["f.dts", "included.dtsi"])
def test_no_line_says_where_others_stand(line: str, number: int, where: str, compile_on: Compile, tmp_path: Path) -> None:
    """Also in a file that is included by a macro's name."""
    (tmp_path / "f.dts").write_text(f'#include "{GOOD}"\n#define FILE "included.dtsi"\n#include FILE\n')
    (tmp_path / where).write_text(f'#include "{GOOD}"\n{line}\n')
    if where != "f.dts":
        (tmp_path / "f.dts").write_text('#define FILE "included.dtsi"\n#include FILE\n')
    found = compile_on(tmp_path / "f.dts", "qemu-aarch64").errors
    assert [(Path(one.file).name, one.line, one.rule) for one in found] == [(where, number, "BH-R009")]


def test_a_byte_order_mark_hides_no_line(compile_on: Compile, tmp_path: Path) -> None:
    (tmp_path / "f.dts").write_text(f'\ufeff#line 1 "board"\n#include "{GOOD}"\n')
    found = compile_on(tmp_path / "f.dts", "qemu-aarch64").errors
    assert [(one.line, one.rule) for one in found] == [(1, "BH-R009")]


@pytest.mark.parametrize(("name", "written"), [('a"b', 'a\\"b'), ("é", "\\303\\251"), ("a\tb", "a\\tb"), ("a\\b", "a\\\\b")])
def test_a_file_is_looked_at_by_its_own_name(name: str, written: str, compile_on: Compile, tmp_path: Path) -> None:
    """Not by the name that the preprocessor writes, which another file may have."""
    (tmp_path / "f.dts").write_text(f'#include "{GOOD}"\n#include <{name}>\n')
    (tmp_path / name).write_text("// nothing\n")
    assert compile_on(tmp_path / "f.dts", "qemu-aarch64").errors == []
    (tmp_path / name).write_text("#line 1\n")
    (tmp_path / written).write_text("// nothing\n")
    found = compile_on(tmp_path / "f.dts", "qemu-aarch64").errors
    assert [(Path(one.file).name, one.line, one.rule) for one in found] == [(name, 1, "BH-R009")]


def board(cell: int, interrupt: int) -> Node:
    """A UART with a reference to its clock, beside a number that happens to be the clock's."""
    root = Node("/")
    for name, phandle in (("clock", cell), ("other", interrupt)):
        root.children[name] = Node(f"/{name}", root, {"phandle": Property("phandle", phandle.to_bytes(4, "big"), is_made=True)})
    cells = cell.to_bytes(4, "big") + (3).to_bytes(4, "big")
    root.children[UART] = Node(f"/{UART}", root, {"clocks": Property("clocks", cells)})
    fixups = Node("/")
    fixups.children["__local_fixups__"] = Node("/__local_fixups__", fixups)
    offsets = {"clocks": Property("clocks", bytes(4))}
    fixups.children["__local_fixups__"].children[UART] = Node(f"/__local_fixups__/{UART}", fixups, offsets)
    take_references(root, fixups)
    return root


def test_a_cell_differs_only_where_the_board_has_a_reference() -> None:
    """The board has 1 for its clock, and 3 beside it, which is also another node's number."""
    theirs = board(1, 3)
    assert list(board_changes(board(7, 8), theirs, b"")) == []
    for number, value in ((0, 8), (0, 1), (1, 8)):
        whole = board(7, 8)
        cells = whole.children[UART].properties["clocks"].cells
        cells[number] = value
        whole.children[UART].properties["clocks"].data = b"".join(cell.to_bytes(4, "big") for cell in cells)
        assert [one.text for one in board_changes(whole, theirs, b"")] == [
            f"`clocks` of `{UART}` of the board tree (<none>:0) is changed by a macro"
        ]


def test_a_macro_cannot_change_the_end_of_a_text() -> None:
    theirs, whole = board(1, 3), board(1, 3)
    theirs.children[UART].properties["status"] = Property("status", b"okay\0")
    whole.children[UART].properties["status"] = Property("status", b"okay1")
    assert len(list(board_changes(whole, theirs, b""))) == 1
