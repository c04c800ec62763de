# SPDX-License-Identifier: Apache-2.0
"""BH-F3.measure. `bulkhead bench sched`: what becomes of what the probe says, and of the linker's map."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.bench import sched
from bhtool.bench.linked import Linked, read_map
from bhtool.bench.result import Result, Row
from bhtool.cli import loaded
from bhtool.commands import help_of
from bhtool.errors import BulkheadError, Status
from bhtool.paths import ROOT
from bhtool.platforms import Platform, load
from bhtool.verbs import bench as verb
from click.testing import CliRunner

FIGURE = 90  # meets every target
LINES = ["x: alive", *(f"x: sched {name} min 80 median {FIGURE} max {FIGURE}" for name in sched.KNOWN), "x: sched done"]


def found(changed: dict[str, int] | None = None, is_judged: bool = True) -> dict[str, Row]:
    """The rows by name, with the greatest samples of some that are others."""
    sandbox = sched.heard(LINES, "sandbox")
    alone = dict(sandbox)
    for name, figure in (changed or {}).items():
        sandbox[name] = replace(sandbox[name], max=figure)
    return {row.name: row for row in sched.figure_rows(sandbox, alone, sched.heard(LINES, "sandbox"), is_judged)}


def test_figures_are_read_from_the_console() -> None:
    rows = sched.heard(LINES, "sandbox")
    assert rows.keys() == sched.KNOWN.keys()
    assert (rows["refill"].n, rows["refill"].min, rows["refill"].max) == (200, 80, FIGURE)


def test_what_the_probe_measures_besides_has_a_row_and_no_target() -> None:
    rows = sched.heard(["x: sched other min 1 median 2 max 3", *LINES], "sandbox")
    assert (sched.figure_rows(rows, rows, rows, True)[0].name, rows["other"].met) == ("other", None)


def test_a_line_that_is_missing_is_an_error() -> None:
    with pytest.raises(BulkheadError, match=r"has not measured refill$"):
        sched.heard((line for line in LINES if "refill" not in line), "sandbox")


def test_a_probe_that_cannot_measure_is_an_error() -> None:
    with pytest.raises(BulkheadError, match="cannot measure: x: sched: no memory"):
        sched.heard(["x: alive", "x: sched: no memory"], "sandbox")


def test_a_probe_that_falls_silent_is_out_of_time() -> None:
    with pytest.raises(BulkheadError) as late:
        sched.heard(LINES[:-1], "sandbox")
    assert late.value.status == Status.TIME_LIMIT


@pytest.mark.parametrize("name", [name for name, known in sched.KNOWN.items() if known.limit])
def test_the_greatest_sample_is_judged(name: str) -> None:
    limit = sched.KNOWN[name].limit
    assert limit
    assert found({name: limit})[name].met is True
    above = found({name: limit + 1})
    assert (above[name].met, above[name].target) == (False, f"at most {limit}")
    assert not Result("sched", "qemu-aarch64", list(above.values())).good


def test_a_peer_stands_beside_it() -> None:
    assert found()["call-reply"].reference == 604


def test_many_vcpus_are_judged_by_few() -> None:
    few = Row("few", "instructions", 200, 80, 100, 200)
    assert sched.growth(few, replace(few, median=160, max=201)).max == 160
    assert sched.growth(few, replace(few, median=161, max=200)).max == 161
    assert sched.growth(few, replace(few, median=100, max=321)).max == 161
    name = f"{sched.MANY}, of {sched.FEW}"
    assert (found()[name].met, found({sched.MANY: 2 * FIGURE})[name].met) == (True, False)


def test_a_figure_that_the_monitor_changes_is_counted() -> None:
    assert found()["unlike the bare emulator"].met
    row = found({"yield": FIGURE + 1, "make-first": 1})["unlike the bare emulator"]
    assert (row.max, row.met) == (2, False)


def result(sandbox: dict[str, Row], alone: dict[str, Row]) -> Result:
    rows = sched.figure_rows(sandbox, alone, sandbox, is_judged=True)
    return Result("sched", "qemu-aarch64", rows, {"runs": "0"} | sched.named_unlike(sandbox, alone))


def said_of(monkeypatch: pytest.MonkeyPatch, *results: Result) -> tuple[Status, list[str]]:
    """What the verb says at its end on standard error, as if these had been measured."""
    measured = iter(results)

    def measure(name: str, platform: Platform, screen: object) -> Result:
        return next(measured)

    monkeypatch.setattr(verb, "measure", measure)
    done = CliRunner().invoke(loaded("bench"), ["sched", "--platform", "qemu-aarch64"], standalone_mode=False)
    assert isinstance(done.return_value, Status)
    return done.return_value, [line.removeprefix("bulkhead: ") for line in done.stderr.splitlines() if line.startswith("bulkhead: ")]


def test_what_is_missed_is_named_and_why_the_status_is_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """With value, limit and the peer's name; of figures that are unlike the bare emulator's, which."""
    alone = sched.heard(LINES, "bare emulator")
    sandbox = alone | {"wake-vcpu": replace(alone["wake-vcpu"], max=451), "decision-24": replace(alone["decision-24"], max=301)}
    status, lines = said_of(monkeypatch, result(sandbox, alone))
    unlike = "; ".join(
        f"{name} 80..{most} (median 90), there 80..90 (median 90)" for name, most in (("wake-vcpu", 451), ("decision-24", 301))
    )
    assert status == Status.FAILED
    assert lines == [
        "sched on qemu-aarch64 missed: wake-vcpu, 80..451 instructions (target: at most 450; seL4: 738)",
        "sched on qemu-aarch64 missed: decision-24, 80..301 instructions (target: at most 300)",
        f"sched on qemu-aarch64 missed: unlike the bare emulator, 2 figures (target: at most 0; {unlike})",
        "3 figures missed, so the status is 1",
    ]


def test_where_nothing_is_missed_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = sched.heard(LINES, "bare emulator")
    assert sched.named_unlike(alone, alone) == {}
    assert said_of(monkeypatch, result(alone, alone)) == (Status.GOOD, [])


def test_a_figure_whose_median_alone_is_unlike_is_named() -> None:
    alone = sched.heard(LINES, "bare emulator")
    sandbox = alone | {"refill": replace(alone["refill"], median=89)}
    assert sched.named_unlike(sandbox, alone) == {sched.UNLIKE: "refill 80..90 (median 89), there 80..90 (median 90)"}


def test_help_says_why_it_fails() -> None:
    assert "the status is 1" in " ".join(help_of("bench").split())


def test_peers_are_those_of_the_documentation() -> None:
    """Its table names each at the figure, where there is one."""
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    assert sched.peer_of("wake-vcpu") == "seL4: 738"
    assert sched.peer_of("decision-24") == ""
    for name in (*sched.KNOWN, sched.OF_FEW):
        cells = re.search(rf'cells\("sched", "{name}", .*?\}}\}} \| (.*?) ?\|$', page, re.MULTILINE)
        assert cells, name
        peer = sched.peer_of(name)
        assert peer.replace(": ", " ") in cells[1], name
        assert bool(peer) == bool(re.search("Zephyr|seL4", cells[1])), name


def test_only_one_architecture_is_judged() -> None:
    assert all(row.met is None for row in found({"yield": 1000}, is_judged=False).values())
    assert [sched.is_judged(load(name)) for name in ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm")] == [
        True,
        True,
        False,
        False,
    ]


MAP = """\
             VMA              LMA     Size Align Out     In      Symbol
        40080000                0        0     1 text_start = .
        40080000         40080000      150  2048 .text
        40080000         40080000       40    16         kernel/libkernel.a.p/core_thread.c.o:(.text.thread_yield)
        40080000         40080000       40     1                 thread_yield
        40080040         40080040       60    16         kernel/libkernel.a.p/core_work.c.o:(.text.work)
        400800a0         400800a0       20    16         kernel/libkernel.a.p/core_programs.c.o:(.text.hog)
        400800c0         400800c0        8    16         kernel/sandbox-kernel.elf.p/sandbox_kernel.c.o:(.text.command_run_other)
        40081000         40081000       30     8 .rodata
        40081000         40081000       20     1         <internal>:(.rodata.str1.1)
        40081020         40081020       10     8         kernel/libkernel.a.p/core_programs.c.o:(.rodata.programs)
        40082000         40082000      100     8 .data
        40082000         40082000      100     8         kernel/libkernel.a.p/core_thread.c.o:(.data.all)
"""


def test_the_kernel_is_weighed_without_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sched, "PROGRAMS", ("core_programs.c", "core_work.c", "sandbox_kernel.c"))
    monkeypatch.setattr(sched, "SCHEDULER", ("core_thread.c",))
    file = tmp_path / "kernel.map"
    file.write_text(MAP)
    linked = read_map(file)
    assert linked == Linked(0x180, {"core_thread.c": 0x40, "core_work.c": 0x60, "core_programs.c": 0x30, "sandbox_kernel.c": 0x8})
    whole, part = sched.size_rows(linked, is_judged=True)
    assert (whole.max, whole.met, part.max, part.met) == (0x180 - 0x98, True, 0x40, None)
    assert sched.size_rows(replace(linked, whole=sched.KERNEL_BYTES + 0x99), is_judged=True)[0].met is False
    with pytest.raises(BulkheadError, match=r"nothing of core_work\.c is linked"):
        Linked(1, {"core_programs.c": 1, "sandbox_kernel.c": 1}).bytes_without(sched.PROGRAMS)
    with pytest.raises(BulkheadError, match=r"nothing of core_sync\.c is linked"):
        Linked(1, {"core_thread.c": 1}).bytes_of(("core_thread.c", "core_sync.c"))
