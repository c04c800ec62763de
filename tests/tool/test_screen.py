# SPDX-License-Identifier: Apache-2.0
"""A run on terminals of several widths, and in pipes: no line is garbled, none is lost, and the terminal is left as it was."""

import os
import re
import signal
import subprocess
from pathlib import Path
from typing import cast

import pytest
from bhtool import paths
from bhtool.cli import bulkhead
from bhtool.errors import BulkheadError, Status
from bhtool.machine.session import LineEvent, Session
from bhtool.report.show import Show
from bhtool.terminal import tty
from bhtool.terminal.live import Live
from bhtool.terminal.logfile import Log
from bhtool.terminal.screen import Screen, table_of
from bhtool.terminal.status import Work
from click.testing import CliRunner

from tests.tool.scripted_run import CRASH, FLOOD, LONG, NAMES, Scripted
from tests.tool.terminals import Terminal, play, resize

NATIVE = paths.PARTITIONS / "native.dts"
SCRIPT = "tests.tool.scripted_run"
SIZES = [(80, 24), (120, 40), pytest.param(20, 10, marks=pytest.mark.slow), pytest.param(200, 5, marks=pytest.mark.slow)]
CLOSING = ["", "closing", "sandbox  state", "─" * 14, "control  ready"]
CALLS_LATER = 25  # half a second
STATUS = re.compile(r"scripted ·|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")


def name_column(name: str) -> str:
    return f"{name:>7} │ "


def paused_lines() -> list[str]:
    texts = [f"line {n} of\ttabs 1A and controls".expandtabs() for n in range(30)]
    lines = [name_column(NAMES[n % 3]) + text for n, text in enumerate(texts)]
    return [*lines[:10], "bulkhead: something is \\x1b[2Jwrong", *lines[10:]]


def unwrapped(lines: list[str]) -> str:
    """All that stands beside the names, without blanks, which may be where a row was cut."""
    return "".join("".join(line[10:].split()) for line in lines)


@pytest.mark.parametrize(("columns", "rows"), [*SIZES[:2], SIZES[3]])
def test_no_line_is_garbled(columns: int, rows: int) -> None:
    """Every line as it was said, in its row; nothing of the status is left between them."""
    ended = play(SCRIPT, "pauses", columns=columns, rows=rows)
    assert ended.terminal.lines() == paused_lines() + CLOSING
    assert any("scripted · guest time" in line for frame in ended.terminal.frames for line in frame), "there was a status"
    assert ended.settings


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_while_it_runs_a_name_stands_at_the_start_of_its_row_only(columns: int, rows: int) -> None:
    ended = play(SCRIPT, "pauses", columns=columns, rows=rows)
    shown = {line for frame in ended.terminal.frames for line in frame}
    assert not [line for line in shown if line.count("│") > 1]
    assert not [line for line in shown if STATUS.search(line) and "line" in line]


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_long_lines_go_on_below_their_text(columns: int, rows: int) -> None:
    lines = play(SCRIPT, "long", columns=columns, rows=rows).terminal.lines()[: -len(CLOSING)]
    assert all(re.match(r"( *(control|sensor|linux)| {7}) │ ", f"{line:10}") for line in lines)
    assert [line.split()[0] for line in lines if line[:7].strip()] == [name for name in NAMES for _ in range(2)]
    assert unwrapped(lines) == unwrapped([" " * 10 + text for _ in NAMES for text in (LONG, "x" * 500)])


def test_a_flood_is_counted_on_a_terminal_and_whole_in_the_log(tmp_path: Path) -> None:
    ended = play(SCRIPT, "flood", tmp_path / "log")
    lines = ended.terminal.lines()
    shown = sum("│ flood " in line for line in lines)
    counted = sum(int(found[1].replace(",", "")) for line in lines if (found := re.search(r"\[([\d,]+) lines more", line)))
    assert shown + counted == FLOOD
    assert sum("│ steady " in line for line in lines) == 10
    logged = (tmp_path / "log").read_text()
    assert logged.count("linux │ flood ") == FLOOD


def test_a_pipe_gets_every_line_of_a_flood() -> None:
    assert play(SCRIPT, "flood", piped="out err").out.count("linux │ flood ") == FLOOD


def test_a_table_in_a_pipe_is_as_wide_as_it_has_to_be(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """So that grep finds a row whole; who sets COLUMNS has asked for less."""
    for columns in (None, "100"):
        monkeypatch.setenv("COLUMNS", columns) if columns else monkeypatch.delenv("COLUMNS", raising=False)
        table = table_of("wide", "sandbox", "may")
        table.add_row("control", "x" * 120)
        Screen().summary(table)
        assert ("control  " + "x" * 120 in capsys.readouterr().out.splitlines()) is (columns is None)


def test_closing_words_stay_in_their_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    Screen().summary("next:\n  cd somewhere/that/is/far/away/example && make")
    assert capsys.readouterr().out == "\nnext:\n  cd somewhere/that/is/far/away/example && make\n"


def test_the_same_crash_is_told_once_and_counted(tmp_path: Path) -> None:
    for piped in ("", "out err"):
        ended = play(SCRIPT, "crashes", tmp_path / "log", piped=piped, columns=120)
        lines = ended.out.splitlines() if piped else ended.terminal.lines()
        said = [line.removeprefix(" sensor │ ") for line in lines if line.startswith(" sensor │ ")]
        assert [line for line in said if not line.startswith("  ")] == [
            "up",
            "life 0",
            "is ready",
            "fault: an exception that would be delivered for ever",
            "begins again: restart 1",
            "the same 10 times more so far: fault: an exception that would be delivered for ever",
            "the same 12 times more: fault: an exception that would be delivered for ever",
            "up",
            "life 13",
            "fault: an exception that would be delivered for ever",
            "begins again: restart 14",
            "up",
            "life 14",
            "fault: an exception that would be delivered for ever; its record stands above",
            "begins again: restart 15",
        ]
        assert sum(f"pc {CRASH.pc:#x}" in line for line in said) == 1
        assert (tmp_path / "log").read_text().count("sensor │   core 1, pc ") == 15


class Interrupt:
    """Ctrl-C, once the terminal shows some text: it reaches the command and what it has started."""

    def __init__(self, text: str) -> None:
        self._text, self._calls = text, 0

    def __call__(self, program: subprocess.Popen[bytes], terminal: Terminal, master: int) -> None:
        """Keys first: the system hands them to the terminal's own side a little later, and they are to be there while the run still is."""
        if self._calls or any(self._text in line for line in terminal.shown()):
            self._calls += 1
        if self._calls == 1:
            os.write(master, b"hello\n\nworld\n")
        elif self._calls == CALLS_LATER:
            os.killpg(program.pid, signal.SIGINT)


def test_an_interrupt_leaves_a_clean_terminal_and_the_table() -> None:
    ended = play(SCRIPT, "waiting", then=Interrupt("scripted ·"))
    assert ended.terminal.lines() == [name_column("control") + "up", *CLOSING], "keys are not shown either"
    assert ended.settings
    assert ended.status == 0
    assert not ended.terminal.screen.cursor.hidden


class Narrower:
    """Makes the terminal smaller once there are lines on it, and notes how many: of those a smaller screen clips some."""

    def __init__(self) -> None:
        self.shown = 0

    def __call__(self, program: subprocess.Popen[bytes], terminal: Terminal, master: int) -> None:
        lines = [line for line in terminal.lines() if "│ line" in line or line.startswith("bulkhead: ")]
        if not self.shown and lines:
            self.shown = len(lines)
            resize(master, 60, 12)
            terminal.screen.resize(12, 60)
            terminal.columns = 60


def test_a_terminal_that_is_resized() -> None:
    """What comes afterwards is as good as on a terminal that was so small from the start."""
    narrower = Narrower()
    lines = play(SCRIPT, "pauses", columns=100, rows=24, then=narrower).terminal.lines()
    later = [line[:60] for line in paused_lines()[narrower.shown :]]
    assert later, "the terminal was resized while lines came"
    assert later == lines[-len(later) - len(CLOSING) : -len(CLOSING)]


@pytest.mark.parametrize("piped", ["out", "err", "out err"])
def test_pipes_get_plain_lines(piped: str) -> None:
    ended = play(SCRIPT, "pauses", piped=piped)
    seen = "\n".join(ended.terminal.lines())
    out, err = ended.out if "out" in piped else seen, ended.err if "err" in piped else seen
    expected = [line for line in paused_lines() if not line.startswith("bulkhead")]
    assert [line.split() for line in out.splitlines() if "│" in line] == [line.split() for line in expected]
    assert r"bulkhead: something is \x1b[2Jwrong" in err
    assert "starting ..." in err
    assert "control  ready" in out
    assert "\x1b" not in ended.out + ended.err
    assert "scripted ·" not in out + err + ended.terminal.data.decode()


@pytest.mark.parametrize("is_behind", [True, False])
def test_a_job_in_the_background_is_told_why_there_is_no_display(
    is_behind: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`timeout 300 tools/bulkhead run` is one, and is told once; a pipe is told nothing."""
    monkeypatch.setattr(tty, "is_shared", lambda: is_behind)
    monkeypatch.setattr(tty, "is_foreground", lambda _: False)
    for variable, value in {"TERM": "xterm", "CI": ""}.items():
        monkeypatch.setenv(variable, value)
    screen = Screen()
    for text in ("preparing", "working"):
        with screen.progress(text):
            pass
    assert capsys.readouterr().err.count("in the background of this terminal") == is_behind


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"TERM": ""}, {"CI": "true"}])
def test_where_nothing_may_move_the_cursor(environment: dict[str, str]) -> None:
    ended = play(SCRIPT, "pauses", environment=environment)
    assert [line for line in ended.terminal.lines() if line != "starting ..."] == paused_lines() + CLOSING
    assert not re.search(rb"\x1b\[[^m]*[^m0-9;]", ended.terminal.data)


def test_no_color_is_a_display_without_colours() -> None:
    ended = play(SCRIPT, "pauses", environment={"NO_COLOR": "1"})
    assert ended.terminal.lines() == paused_lines() + CLOSING
    assert not re.search(rb"\x1b\[[0-9;]*3[0-9]", ended.terminal.data)
    assert any("scripted ·" in line for frame in ended.terminal.frames for line in frame)


def test_an_encoding_without_lines_gets_others() -> None:
    ended = play(SCRIPT, "pauses", piped="out err", environment={"PYTHONIOENCODING": "ascii"})
    assert "control | line 0 of" in ended.out


@pytest.mark.slow
@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_a_real_machine_that_is_interrupted(columns: int, rows: int) -> None:
    """Long before it would end: on a busy host the interrupt may be late by seconds of guest time."""
    ended = play("bhtool", "run", "--partition", NATIVE, "--seconds", "300", columns=columns, rows=rows, then=Interrupt("1000 beats"))
    lines = ended.terminal.lines()
    table = next(n for n, line in enumerate(lines) if "guest time" in line)
    assert not [
        line for line in lines[: table - 1] if not re.match(r" *(monitor|north|east|south|west|) │ \S", line) or line.count("│") > 1
    ]
    assert sum(bool(re.match(r" *(north|east|south|west) +\d +ready", line)) for line in lines[table:]) == 4
    assert any("qemu-aarch64 · guest time" in line for frame in ended.terminal.frames for line in frame)
    assert ended.status == Status.INTERRUPTED
    assert ended.settings
    assert not ended.terminal.screen.cursor.hidden


def test_a_narrower_terminal_has_wrapped_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    """So its first row is further up, and what it has become is erased to the end."""
    size, written = [(100, 24)], []
    monkeypatch.setattr(tty, "size", lambda descriptor: size[0])
    monkeypatch.setattr(tty, "write", lambda descriptor, data: written.append(data.decode()))
    live = Live(1, Work("work"), str, "utf-8")
    rows = [(90, "x" * 90), (40, "y" * 40)]
    live._frame(rows)
    size[0] = (50, 24)
    live._frame(rows)
    assert written[-1].startswith("\r\x1b[2A\x1b[J")


def test_the_last_words_are_shown_though_their_line_has_no_end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """But no piece of a name that would have stood before them."""
    session = Scripted()
    monkeypatch.setattr(session, "unfinished_lines", lambda: [LineEvent("sensor", "sens"), LineEvent("linux", "login: ")])
    with Show(Screen(), cast(Session, session)):
        pass
    assert capsys.readouterr().out == f"{name_column('linux')}login: \n"


def test_a_log_is_printable_whatever_ends_the_command(tmp_path: Path) -> None:
    with pytest.raises(BulkheadError), Log(tmp_path / "log"):
        raise BulkheadError("x\x1b[31m.dts: there is no such file")
    assert "x\\x1b[31m.dts" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("arguments", [["completion"], ["overlay", "rtos.dts", "rtos"]])
def test_what_is_missing_is_said_in_one_line(arguments: list[str]) -> None:
    done = CliRunner().invoke(bulkhead, arguments)
    (said,) = [line for line in done.output.splitlines() if "Missing" in line]
    assert "\t" not in done.output
    assert re.search(r"Give .*, .* or \w+\.$", said)


def test_what_is_recorded_is_printable(tmp_path: Path) -> None:
    with Log(tmp_path / "log") as log:
        screen = Screen()
        screen.log = log
        screen.record("compiling x\x1b[31m.dts\nfor\x9bone")
    assert [line.partition(" │ ")[2] for line in (tmp_path / "log").read_text().splitlines()[1:]] == [
        "compiling x\\x1b[31m.dts",
        "for\\x9bone",
    ]


def test_what_a_sandbox_says_steers_no_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen()
    monkeypatch.setattr(type(screen.out), "is_terminal", property(lambda _: True))
    screen.put("one", "a\x1b[2Jb\x9bc\td")
    (line,) = capsys.readouterr().out.splitlines()
    assert "a\\x1b[2Jb\\x9bc" in line
    assert line.isprintable()
