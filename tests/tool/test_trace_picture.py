# SPDX-License-Identifier: Apache-2.0
"""BH-F4.trace. Pictures of time lines, and the verb that draws them: what one sandbox claims takes nothing of another's away."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bhtool.cli import loaded
from bhtool.errors import BulkheadError, Status
from bhtool.terminal.screen import Screen
from bhtool.trace.plot import Window, draw_core, require_format, windows_of
from bhtool.trace.plot import rows_of as plotted
from bhtool.trace.rings import MOST_PERIOD, NS, Trace
from bhtool.trace.timeline import Timeline, timelines
from bhtool.verbs import trace as verb
from click.testing import CliRunner
from rich.console import Console

from tests.tool.test_trace import HZ, IRQ_BEGIN, IRQ_END, LOOP, ROWS, USED_UP, VCPU, Row, axes, memory, read, traced

MS = HZ // 1000  # ticks


def test_a_picture_begins_where_all_run() -> None:
    trace, line = traced()
    rows = plotted(trace, line)
    assert [row.vcpu.name for row in rows] == ["loop", "main"]
    window = windows_of(rows, None, None)["engine"]
    assert (window.start, window.end) == (2030 * 16, 2030 * 16 + 4 * 16000)
    assert windows_of(rows, 1, 2) == {"engine": Window(1_000_000, 3_000_000)}, "of guest time"
    with pytest.raises(BulkheadError):
        require_format(Path("x.gif"))


def test_a_name_in_a_picture_is_no_formula() -> None:
    """Between dollar signs matplotlib would read one, and fail where it is none."""
    trace, line = traced()
    asked: dict[str, Any] = {}
    rows = plotted(trace, line)
    draw_core(axes(set_yticks=lambda *_, **options: asked.update(options)), rows, windows_of(rows, None, None)["engine"])
    assert asked["parse_math"] is False


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[list[Row]], Any]:
    """The verb, with a machine that leaves these records and then ends as it says."""

    def runs(rows: list[Row], status: Status = Status.GOOD, *more: str) -> Any:
        trace = read(memory(rows))
        session = SimpleNamespace(machine=SimpleNamespace(stop=lambda: None, guest_seconds=lambda: 1.0), watches={}, memory=None)
        fakes: dict[str, Any] = {
            "judged_plan": lambda *_: SimpleNamespace(warnings=[]),
            "traced_at": lambda *_: {},
            "chosen": lambda *_: {},
            "with_tracing": lambda plan, *_: plan,
            "Session": lambda *_: nullcontext(session),
            "watch_until": lambda *_: status,
            "traces_of": lambda *_: [trace],
            "versions": lambda _: {},
        }
        for name in ("require_valid", "make_image", "Machine", "timing_for", "Goal", "Show"):
            fakes[name] = lambda *_: None
        for name, fake in fakes.items():
            monkeypatch.setattr(verb, name, fake)
        files = {"-o": tmp_path / "mine.pftrace", "--plot": tmp_path / "mine.svg", "--json": tmp_path / "mine.json"}
        return CliRunner().invoke(loaded("trace"), [*(str(word) for pair in files.items() for word in pair), *more], standalone_mode=False)

    return runs


def test_no_picture_where_no_vcpu_ran_is_a_failure(run: Callable[..., Any], tmp_path: Path) -> None:
    """The other files are written."""
    idle: list[Row] = [(1000, IRQ_BEGIN, 27, 0, 0), (1010, IRQ_END, 27, 0, 0)]
    for status in (Status.GOOD, Status.TIME_LIMIT):
        done = run(idle, status)
        assert isinstance(done.exception, BulkheadError)
        assert done.exception.status == (status or Status.FAILED)
        for word in ("mine.svg", "mine.pftrace", "`--seconds`", "`--ring`"):
            assert word in str(done.exception)
        assert {file.name for file in tmp_path.iterdir()} == {"mine.pftrace", "mine.json"}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--from", "5000"), "nothing was recorded from 5,000.000 to "),
        (("--span", "0.001", "--from", "0"), "nothing was recorded from 0.000 to 0.001 ms of guest time"),
    ],
    ids=["after", "before"],
)
def test_a_picture_of_nothing_is_refused(run: Callable[..., Any], tmp_path: Path, more: tuple[str, ...], said: str) -> None:
    done = run(ROWS, Status.GOOD, *more)
    assert isinstance(done.exception, BulkheadError)
    assert done.exception.status == Status.FAILED
    assert said in str(done.exception)
    assert "the trace is 0.000 s long, from 0.016 to 0.048 ms" in str(done.exception)
    assert not (tmp_path / "mine.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "3"), "--from says what a picture shows; give --plot FILE"),
        (("--span", "3"), "--span says what a picture shows; give --plot FILE"),
        (("--plot", "a.svg", "--seconds", "3", "--from", "3000"), "--from 3000: the run ends after 3000 ms of guest time"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_a_machine_runs(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = CliRunner().invoke(loaded("trace"), ["-o", str(tmp_path / "mine.pftrace"), *arguments], standalone_mode=False)
    assert isinstance(done.exception, BulkheadError)
    assert done.exception.status == Status.USAGE
    assert said in str(done.exception)


# ---- Several sandboxes, of which one lies ---------------------------------------------------------------------------


def beating(name: str, first_ms: int, count: int, period: int = MS) -> tuple[Trace, list[Timeline]]:
    """One that runs for a fifth of each ms."""
    rows: list[Row] = []
    for n in range(first_ms, first_ms + count):
        rows += [(n * MS, VCPU, LOOP, 200, 1), (n * MS + MS // 5, USED_UP, LOOP, 0, 0), (n * MS + MS // 5, VCPU, 0, 0, 0)]
    trace = read(memory(rows, room=4096, vcpus={1: (0x100, MS, MS), LOOP: (0x200, min(MS, period) // 5, period)}))
    assert trace
    trace = replace(trace, sandbox=name)
    return trace, timelines(trace)


def shown(found: list[tuple[Trace, list[Timeline]]], name: str, *asked: float | None) -> int:
    """How many slices of a sandbox are in the picture, and wide enough to be seen."""
    rows = [row for trace, lines in found for line in lines for row in plotted(trace, line)]
    window = windows_of(rows, *(asked or (None, None)))[name]
    wide = [
        one
        for row in rows
        if row.trace.sandbox == name
        for one in row.line.slices("vcpu")
        if (one.end - one.start) * 5000 >= window.end - window.start
    ]
    return len([one for one in wide if one.start < window.end and one.end > window.start])


LIES = {
    "early": beating("bad", 0, 3),
    "late": beating("bad", 998, 2),
    "slow": beating("bad", 500, 100, MOST_PERIOD),
    "fast": beating("bad", 500, 100, 10),
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("asked", [(None, None), (None, 3), (505, None), (505, 3)], ids=["all", "span", "from", "both"])
def test_no_sandbox_empties_the_others_rows(lie: str, asked: tuple[float | None, float | None]) -> None:
    good = beating("good", 500, 100)
    expected = 3 if asked[1] else 4
    for found in ([good, LIES[lie]], [LIES[lie], good]):
        assert shown(found, "good", *asked) >= expected


def test_sandboxes_that_ran_together_share_a_window() -> None:
    found = [beating("one", 500, 100), beating("two", 510, 90, 5 * MS)]
    rows = [row for trace, lines in found for line in lines for row in plotted(trace, line)]
    assert windows_of(rows, None, None) == dict.fromkeys(("one", "two"), Window(510_000_000, 530_000_000))


def test_who_tells_of_times_that_the_machine_has_not_had_is_in_no_picture(capfd: pytest.CaptureFixture[str]) -> None:
    good, bad = beating("good", 500, 100), beating("bad", 90_000, 3)
    assert verb.of_this_run([good, bad], 0.6, Screen()) == [good]
    said = " ".join(capfd.readouterr().err.split())
    assert "bad is not in the picture: it says that it did something at 90.0 s, and the machine ran for 0.6 s" in said


# ---- The table ------------------------------------------------------------------------------------------------------


def table(trace: Trace, lines: list[Timeline], ring_kib: int = 1024) -> str:
    console = Console(width=200)
    with console.capture() as held:
        console.print(verb.summary([(trace, lines)], ring_kib))
    return held.get()


def test_the_table_has_seconds_and_shares() -> None:
    trace, (line,) = beating("good", 500, 101)
    assert (line.end - line.start) // 1000 == NS // 10_000 + 200
    said = table(trace, [line])
    row = next(one.split() for one in said.splitlines() if "good" in one)
    assert (row[:3], row[-1]) == (["good", "5", "0.100"], "20.2%")
    assert "--ring" not in said


def test_who_lost_records_is_told_what_keeps_more() -> None:
    trace = read(memory([(clock, VCPU, clock % 2 * LOOP, 0, 1) for clock in range(64)], head=100))
    assert trace
    assert "--ring makes them larger than 1024 KiB" in table(trace, timelines(trace))
    assert "as large as can be" in table(trace, timelines(trace), verb.MOST_RING_KIB)
