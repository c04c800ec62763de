# SPDX-License-Identifier: Apache-2.0
"""Text for people: names that were meant, and nothing out of a file that a terminal would act on."""

import io
import re
import sys

import pytest
from bhtool import cli
from bhtool.errors import Status
from bhtool.terminal.plain import PlainConsole
from bhtool.text import all_of, close_to, counted, did_you_mean, size_text, visible
from rich.table import Table
from rich.text import Text

ODD = "a\x1b[31mb\x07\x9bc\u202ed\udce9e\x00\t"
SHOWN = r"a\x1b[31mb\x07\x9bc\u202ed\xe9e\x00\t"


def test_what_is_not_printable_is_escaped() -> None:
    assert visible(ODD) == SHOWN
    assert visible("größer als 2 │ MiB") == "größer als 2 │ MiB"
    assert visible("two\nlines") == r"two\nlines"


@pytest.mark.parametrize(
    "words",
    [["check", "--a\x9b31mb\u202e"], ["a\x9b31mb\u202e"], ["check", "f.dts", "a\x9b31mb\u202e"]],
    ids=["option", "verb", "argument"],
)
def test_what_is_wrong_in_a_call_is_shown_escaped(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bulkhead", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr().err
    assert ended.value.code == Status.USAGE
    assert said.replace("\n", "").isprintable()
    assert r"a\x9b31mb\u202e" in said


def test_nothing_unprintable_reaches_the_terminal() -> None:
    """Whatever way it takes: plain text, markup, a table's cell and title, a line of progress."""
    written = io.StringIO()
    console = PlainConsole(file=written, force_terminal=True, width=200)
    table = Table(ODD, title=ODD)
    table.add_row(ODD)
    for one in (ODD, Text(ODD, "red"), table):  # rich itself takes bells out
        console.print(one)
    with console.status(Text(ODD)):
        pass
    plain = re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", written.getvalue().replace("\r", ""))
    assert SHOWN.removesuffix(r"\t").replace(r"\x07", "") in plain
    assert all(one.isprintable() for one in plain.split("\n"))
    assert "\x1b[31mb" not in written.getvalue()


MARKED = "[red]x[/red]:smile:[/]"


def test_brackets_in_names_are_no_markup() -> None:
    """In every place of a table and of a sentence; a closing tag that closes nothing would end the command."""
    written = io.StringIO()
    console = PlainConsole(file=written, force_terminal=True, width=200)
    table = Table(MARKED, title=MARKED, caption=MARKED)
    table.add_row(MARKED)
    console.print(MARKED)
    console.print(table)
    assert written.getvalue().count(MARKED) == 5


@pytest.mark.parametrize(("count", "text"), [(0, "0 gaps"), (1, "1 gap"), (2, "2 gaps"), (1200, "1,200 gaps")])
def test_one_of_them_is_no_plural(count: int, text: str) -> None:
    assert counted(count, "gap") == text


def test_a_plural_may_be_another_word() -> None:
    assert (counted(1, "sandbox", "sandboxes"), counted(2, "sandbox", "sandboxes")) == ("1 sandbox", "2 sandboxes")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (16 << 40, "16 TiB"),
        (3 << 30, "3 GiB"),
        (1280 << 10, "1,280 KiB"),
        (0x100100000 + 4096, "4,097.0 MiB"),
        (4095, "4,095 B"),
        (0, "0 B"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("memory_region", ("memory-region", "may-kick"), " (did you mean `memory-region`?)"),
        ("Linux", ("native", "linux"), " (did you mean `linux`?)"),
        ("colour", ("cores", "image"), ""),
        ("cpu9", ("cpu0", "cpu1", "uart0"), " (there are `cpu0`, `cpu1`)"),
        ("nic1", ("nic0", "cpu0"), " (there is `nic0`)"),
        ("anything", (), ""),
    ],
)
def test_who_was_meant(name: str, known: tuple[str, ...], hint: str) -> None:
    assert did_you_mean(name, known) == hint


@pytest.mark.parametrize(
    ("names", "clause"), [(["hello"], "there is `hello`"), (["rtos", "other"], "there are `rtos`, `other`"), ([], "there are none")]
)
def test_who_there_is(names: list[str], clause: str) -> None:
    assert all_of(names) == clause


def test_closeness_has_a_bound() -> None:
    assert close_to("domain", ("domains",), 0.84) == "domains"
    assert close_to("domicile", ("domains",), 0.84) == ""
