# SPDX-License-Identifier: Apache-2.0
"""BH-F1.plan, BH-F1.handed. VCPUs of a partition file: what the sandbox kernel is told of them, and what `check` says of the core that they share."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bhtool import abi
from bhtool.abi import lib
from bhtool.config.grants import _vcpu_grant
from bhtool.config.machine import Costs
from bhtool.config.plan import CoreLoad, Plan, VcpuPlan
from bhtool.config.rules import BY_ID
from bhtool.config.schedulability import admitted_text
from bhtool.config.table import make_info
from bhtool.config.vcpus import FEW_SWITCHES, FIRST_CORE_PROGRAMS, HEARTBEAT_HZ, MAIN_BUDGET_US, MAIN_PERIOD_US, PROGRAMS
from bhtool.paths import PARTITIONS, ROOT
from bhtool.platforms import load
from bhtool.report.check_json import plan_json

from tests.config.conftest import COSTS

Compile = Callable[[Path, str], Plan]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
PLATFORMS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
ANY = PLATFORMS[0]
LATE = re.compile(
    r"ask for (?P<asked>[\d.]+)%, 20.0% of it for the kernel's own `main` and (?P<beyond>[\d.]+)% for switches, interrupts and what I/O VCPUs take at once, and (?P<allowed>[\d.]+)% always fit; .*all would fit with (?P<fit>[\d,]+) us at most for `(?P<who>\w+)`"
)
Set = list[tuple[int, int]]  # budget and period of v0, v1, ... in us
SWITCH_US, TOP_HALF_US = COSTS.switch // 1000, COSTS.top_half // 1000
BEAT_US = 1000


def written(folder: Path, text: str) -> Path:
    file = folder / "f.dts"
    file.write_text(f'#include "{GOOD}"\n{text}\n')
    return file


def two(vcpus: Set) -> str:
    held = (f"v{n} {{ budget-us = <{budget}>; period-us = <{period}>; }};" for n, (budget, period) in enumerate(vcpus))
    return f"&two {{ {' '.join(held)} }};"


def rows_of(plan: Plan, name: str) -> list[Any]:
    one = next(one for one in plan.sandboxes if one.name == name)
    page = next(piece.data for piece in plan.segments if piece.hpa == one.pool_hpa + lib.BH_POOL_INFO)
    info = abi.view("bh_info", page)
    return [row for row in list(info.grants)[: info.grant_count] if row.kind == lib.BH_GRANT_VCPU]


def text_in(field: Any) -> str:
    found = abi.ffi.string(field)
    assert isinstance(found, bytes)
    return found.decode()


def load_of(plan: Plan) -> CoreLoad:
    (load_of_two,) = next(one for one in plan.sandboxes if one.name == "two").loads
    return load_of_two


def responses(plan: Plan) -> list[tuple[str, int | None]]:
    return [(one.name, one.response_us) for one in load_of(plan).vcpus]


# ---- What the kernel is told ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
def test_rows_are_what_the_file_says(
    platform: str, compile_on: Compile, tmp_path: Path, monitor_refuses: Callable[[str, bytes], str]
) -> None:
    text = """&two {
		scheduler = "rate-monotonic";
		control { budget-us = <200>; period-us = <1000>; program = "loop"; core = <&cpu1>; };
		hog { budget-us = <4000000>; period-us = <4294967295>; foreground-only; };
		idle { budget-us = <100>; period-us = <1000>; program = ""; };
	};"""
    plan = compile_on(written(tmp_path, text), platform)
    assert (plan.errors, plan.warnings) == ([], [])
    found = [(text_in(row.name), text_in(row.compatible), row.gpa, row.size, row.flags) for row in rows_of(plan, "two")]
    assert found == [
        ("control", "loop", 200_000, 1_000_000, 0),
        ("hog", "hog", 4_000_000_000, 4_294_967_295_000, lib.BH_VCPU_FOREGROUND_ONLY),
        ("idle", "", 100_000, 1_000_000, 0),
    ]
    assert {(row.line, row.vector) for row in rows_of(plan, "two")} == {(lib.BH_LINE_NONE, 0)}
    assert rows_of(plan, "one") == []
    assert monitor_refuses(platform, plan.table) == ""


def test_rows_of_what_is_not_done_yet(compile_on: Compile, tmp_path: Path) -> None:
    """`check` refuses them so far; a kernel that has them finds them so."""
    device = VcpuPlan("nic-io", "io", 0, 0, 1000, 10, "nic-io", False, False, "nic0", 37, 20_000)
    silent = VcpuPlan("card-io", "io", 2, 0, 500, 100, "", True, True, "card", None, 0)
    plan = compile_on(written(tmp_path, ""), ANY).sandboxes[1]
    info = abi.view("bh_info", make_info(plan, [_vcpu_grant(device), _vcpu_grant(silent)], Costs()))
    first, second = list(info.grants)[:2]
    assert (first.gpa, first.size, first.line, first.vector, first.flags) == (20_000, 1_000_000, 37, 10, 0)
    assert (second.gpa, second.size, second.line, second.vector) == (0, 500_000, lib.BH_LINE_NONE, 100)
    assert second.flags == 2 | lib.BH_VCPU_FOREGROUND_ONLY | lib.BH_VCPU_EDF


@pytest.mark.parametrize("platform", PLATFORMS)
def test_sixteen_fit(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, two([(100, 10_000)] * 16)), platform)
    assert plan.errors == []
    assert len(rows_of(plan, "two")) == 16


def test_rows_fit_beside_devices(compile_on: Compile, tmp_path: Path) -> None:
    """BH-I7.tool. They are counted with all that the information page lists."""
    devices = "".join(
        f'd{n}: device@b00{n:x}000 {{ compatible = "example,device"; bulkhead,dma-free = "a stand-in"; reg = <0x0 0xb00{n:x}000 0x0 0x1000>; }};'
        for n in range(16)
    )
    file = tmp_path / "f.dts"
    for count, rules in ((15, []), (16, []), (17, ["BH-R144"])):
        access = ", ".join(f"<&d{n}>" for n in range(16))
        text = two([(100, 10_000)] * count).replace("{ v0", f"{{ access = {access}; v0", 1)
        file.write_text(f'#ifdef BOARD_TREE\n/ {{ {devices} }};\n#else\n#include "{GOOD}"\n{text}\n#endif\n')
        assert [one.rule for one in compile_on(file, ANY).errors] == rules


# ---- What a core can give ---------------------------------------------------------------------------------------------------------


def test_what_the_numbers_here_are_made_with() -> None:
    assert (MAIN_BUDGET_US, MAIN_PERIOD_US) == (20_000, 100_000)
    header = (ROOT / "kernel" / "core" / "heartbeat.h").read_text()
    assert f"enum {{ HEARTBEAT_HZ = {HEARTBEAT_HZ} }};" in header
    assert HEARTBEAT_HZ * BEAT_US == 1_000_000


def test_equal_periods_are_admitted_by_response_times(compile_on: Compile, tmp_path: Path) -> None:
    """With the kernel's own, four of 20 in 100: the bound says no. What is made first comes first. They have 4, 5, 6 and 7 switches, and 21,
    41, 61 or 82 heartbeats and once more."""
    plan = compile_on(written(tmp_path, two([(20_000, 100_000)] * 3)), ANY)
    assert plan.errors == []
    assert responses(plan) == [("main", 20_370), ("v0", 40_680), ("v1", 60_990), ("v2", 81_315)]
    load = load_of(plan)
    assert (load.by_bound, load.exact, load.scheduler) == (False, False, "rate-monotonic")
    assert (round(load.asked, 5), round(load.allowed, 4)) == (0.81585, 0.7568)  # seven switches and 101 heartbeats in 100 ms


def test_what_the_bound_admits_has_response_times_too(compile_on: Compile, tmp_path: Path) -> None:
    """Ranks go by periods, whatever stands first."""
    plan = compile_on(written(tmp_path, two([(5_000, 50_000), (100, 1_000)])), ANY)
    # 100, 3 switches, 2 beats; 5,000, 6 of 100, 4 switches, 7 beats; 20,000, 5,000, 29 of 100, 5 switches, 30 beats
    assert responses(plan) == [("v1", 160), ("v0", 5_745), ("main", 28_400)]
    assert load_of(plan).by_bound


def test_a_full_core_is_full(compile_on: Compile, tmp_path: Path) -> None:
    """Harmonic periods leave nothing over but for switches and heartbeats: `main` ends after 10 of v1, 100 of v0, 5 switches, 101 beats and its own
    20,000 us, and what is left of its 100,000 us is less than one more of either. Without them, (500, 1000) and (3000, 10000) would be full."""
    assert [one.rule for one in compile_on(written(tmp_path, two([(500, 1_000), (3_000, 10_000)])), ANY).errors] == ["BH-R149"]
    full = [(500, 1_000), (2_843, 10_000)]  # 100,000 - 20,000 - 50 - 1,515 - 50,000 = 28,435 for 10 of v1
    assert compile_on(written(tmp_path, two(full)), ANY).errors == []
    for n, (budget, period) in enumerate(full):
        more = [*full[:n], (budget + 1, period), *full[n + 1 :]]
        assert [one.rule for one in compile_on(written(tmp_path, two(more)), ANY).errors] == ["BH-R149"]


SETS: list[Set] = [
    [(200, 1_000), (1_700, 2_000)],
    [(45_000, 50_000)],
    [(700, 1_000), (999, 1_000)],
    [(3_000, 7_000), (3_000, 12_000), (5_000, 20_000)],
    [(700, 1_100), (100, 1_300), (90_000, 1_000_000)],
]


def asked_with_switches(vcpus: Set) -> float:
    """All utilizations, and the most that a switch for each and for those before it, the heartbeats of a period and one more take of that."""
    every = sorted([(MAIN_BUDGET_US, MAIN_PERIOD_US), *vcpus], key=lambda one: one[1])
    extra = max(
        ((len(every) + rank) * SWITCH_US + (-(-period // BEAT_US) + 1) * TOP_HALF_US) / period for rank, (_, period) in enumerate(every)
    )
    return float(sum(budget / period for budget, period in every) + extra)


@pytest.mark.parametrize("vcpus", SETS)
def test_what_would_fit_fits_and_no_more(vcpus: Set, compile_on: Compile, tmp_path: Path) -> None:
    """BH-I7.tool. A refusal has the utilization, the limit, and a budget that can be written instead."""
    file = written(tmp_path, two(vcpus))
    (error,) = compile_on(file, ANY).errors
    said = LATE.search(error.text)
    assert said, error.text
    mains = len(vcpus) + 1
    asked = asked_with_switches(vcpus)
    assert (said["asked"], said["allowed"]) == (f"{asked * 100:.1f}", f"{mains * (2 ** (1 / mains) - 1) * 100:.1f}")
    who, fit = int(said["who"].removeprefix("v")), int(said["fit"].replace(",", ""))
    budget, period = vcpus[who]
    assert 0 < fit < budget
    for amount, rules in ((fit, []), (fit + 1, ["BH-R149"])):
        file = written(tmp_path, two([*vcpus[:who], (amount, period), *vcpus[who + 1 :]]))
        assert [one.rule for one in compile_on(file, ANY).errors] == rules


def test_where_no_budget_of_one_helps(compile_on: Compile, tmp_path: Path) -> None:
    (error,) = compile_on(written(tmp_path, two([(1_000, 1_000), (1_000, 1_000)])), ANY).errors
    assert "`v0` has had its budget after 1,060 us or more" in error.text  # with three switches and two beats
    assert "; no smaller budget of `v0` alone would help" in error.text
    assert "; all would fit with 39% of each budget and share of the file at most; no smaller" in error.text
    assert compile_on(written(tmp_path, two([(390, 1_000), (390, 1_000)])), ANY).errors == []
    assert compile_on(written(tmp_path, two([(400, 1_000), (400, 1_000)])), ANY).errors


def test_a_set_that_nobody_can_follow_is_refused(compile_on: Compile, tmp_path: Path) -> None:
    """In bounded time: periods of some microseconds and of an hour."""
    (error,) = compile_on(written(tmp_path, two([(11, 11), (11, 4_000_000_000)])), ANY).errors
    assert error.rule == "BH-R149"


def test_what_takes_too_long_is_not_said_to_fit_in_no_way(compile_on: Compile, tmp_path: Path) -> None:
    text = two([(200, 1_000), (1_000, 1_000_000_000)]).replace("{ v0", '{ scheduler = "edf"; v0', 1)
    (error,) = compile_on(written(tmp_path, text), ANY).errors
    assert "deadlines to look at; periods that are multiples of each other, or closer to each other, are found out sooner" in error.text


def test_of_a_line_the_highest_rate_that_fits_is_told(compile_on: Compile, tmp_path: Path) -> None:
    """Where a top half is what does not fit, and where budgets are, too, which the rate alone does not mend."""

    def error_with(rate: int, loop_us: int = 500) -> str:
        loop = f"loop {{ budget-us = <{loop_us}>; period-us = <1000>; }};"
        echo = f"echo {{ serves = <&uart0>; utilization-percent = <6>; max-rate-hz = <{rate}>; }};"
        return "\n".join(one.text for one in compile_on(written(tmp_path, f"&one {{ {loop} {echo} }};"), ANY).errors)

    # `main`: 100,000 - 20,000 - 50 - 50,000 - 6,056 - 1,515 us for 1,491 of 15 us
    assert ", or with a `max-rate-hz` of 14,902 at most for `echo`; " in error_with(20_000)
    assert error_with(14_902) == ""
    assert "max-rate-hz` of 14,902 at most" in error_with(14_903)
    assert "; no lower `max-rate-hz` of `echo` alone would help; " in error_with(20_000, 1_000)
    assert "no smaller budget of `loop` alone would help; no lower `max-rate-hz` of `echo` alone would help; " in error_with(60_000, 1_000)


def test_by_deadline_it_is_the_io_vcpu_that_is_refused(compile_on: Compile, tmp_path: Path) -> None:
    loop = "loop { budget-us = <200>; period-us = <1000>; };"
    echo = "echo { serves = <&uart0>; utilization-percent = <4>; };"
    (error,) = compile_on(written(tmp_path, f'&one {{ scheduler = "edf"; {loop} {echo} }};'), ANY).errors
    assert error.rule == "BH-R004"
    assert "an I/O VCPU (child `echo`)" in error.text


def test_by_deadline_the_sum_is_told_and_no_bound(compile_on: Compile, tmp_path: Path) -> None:
    text = two([(900, 1_000)]).replace("{ v0", '{ scheduler = "edf"; v0', 1)
    (error,) = compile_on(written(tmp_path, text), ANY).errors
    asked = "VCPUs ask for 110.0%, 20.0% of it for the kernel's own `main`; VCPUs and interrupts take 111.5%, more than there is; "
    assert f"on core 1 of `two` {asked}all would fit with 784 us at most for `v0`" in error.text
    (error,) = compile_on(written(tmp_path, text.replace("<900>", "<785>")), ANY).errors
    assert "VCPUs and interrupts take all of it, and switches come on top; " in error.text


@pytest.mark.parametrize(
    ("vcpus", "scheduler", "text"),
    [
        (
            [(100, 1_000)],
            "",
            "35.0%, 20.0% of it for the kernel's own `main` and 5.0% for switches, interrupts and what I/O VCPUs take at once; 82.8% always fit; admitted by this bound",
        ),
        (
            [(20_000, 100_000)] * 3,
            "",
            "81.6%, 20.0% of it for the kernel's own `main` and 1.6% for switches, interrupts and what I/O VCPUs take at once; 75.7% always fit; admitted by response times, as the bound is sufficient and not necessary",
        ),
        ([(100, 1_000)], 'scheduler = "edf"; ', "30.0%, 20.0% of it for the kernel's own `main`; no deadline is missed"),
    ],
)
def test_by_what_a_core_is_admitted(vcpus: Set, scheduler: str, text: str, compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, two(vcpus).replace("{ v0", f"{{ {scheduler}v0", 1)), ANY)
    assert admitted_text(load_of(plan)) == text


# ---- What they run ----------------------------------------------------------------------------------------------------------------


def test_programs_are_the_kernels() -> None:
    source = (ROOT / "kernel" / "core" / "programs.c").read_text()
    table = re.search(r"programs\[\] = \{(.*?)\n\};", source, re.DOTALL)
    assert table
    rows = dict(re.findall(r'\{ "(\w+)", \w+, (true|false) \}', table[1]))
    assert len(rows) == table[1].count("{") == len(PROGRAMS)
    assert sorted(rows) == list(PROGRAMS)
    assert [name for name, first_only in rows.items() if first_only == "true"] == list(FIRST_CORE_PROGRAMS)
    assert re.findall(r'"(\w+)"', BY_ID["BH-W150"].remedy) == list(PROGRAMS)
    assert re.findall(r"\(`(\w+)`\)", BY_ID["BH-R150"].holds) == list(FIRST_CORE_PROGRAMS)


def test_a_kernel_beside_the_file_may_have_other_programs(compile_on: Compile, tmp_path: Path) -> None:
    """That one is used then; good.dtsi, which names the image, is copied so that it lies beside."""
    (tmp_path / "good.dtsi").write_text(GOOD.read_text())
    file = tmp_path / "f.dts"
    file.write_text(f'#include "good.dtsi"\n{two([(200, 1_000)])}\n')
    assert [one.rule for one in compile_on(file, ANY).warnings] == ["BH-W150"]
    (tmp_path / "sandbox-kernel.elf").touch()
    assert [one.rule for one in compile_on(file, ANY).warnings] == ["BH-W152"]


def test_a_misspelt_image_is_told_before_what_would_follow_from_it(compile_on: Compile, tmp_path: Path) -> None:
    """A kernel that is not the tool's would be warned of, and the channel's deadline not met: its end would be known by its period alone."""
    file = tmp_path / "f.dts"
    channel = 'samples { compatible = "bulkhead,channel-v1"; from = <&one>; to = <&two>; kind = "ring"; deadline-us = <1>; };'
    misspelt = '&two { image = "sandbox-kernle.elf"; };'
    file.write_text(f'#include "{GOOD}"\n{two([(200, 1_000)])}\n{misspelt}\n/ {{ domains {{ {channel} }}; }};\n')
    plan = compile_on(file, ANY)
    assert next(one.rule for one in plan.errors) == "BH-R060"
    assert "BH-W152" not in [one.rule for one in plan.warnings]


@pytest.mark.parametrize(("budget", "period", "rules"), [(10, 100, ["BH-W143"]), (49, 9_000, ["BH-W143"]), (50, 500, [])])
def test_a_budget_that_switches_take_is_warned_of(budget: int, period: int, rules: list[str], compile_on: Compile, tmp_path: Path) -> None:
    assert (FEW_SWITCHES, BY_ID["BH-W143"].holds) == (5, "A budget is five switches or more.")
    file = written(tmp_path, f"&two {{ loop {{ budget-us = <{budget}>; period-us = <{period}>; }}; }};")
    plan = compile_on(file, ANY)
    assert (plan.errors, [one.rule for one in plan.warnings]) == ([], rules)


# ---- JSON -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
def test_json_has_each_core_with_vcpus(platform: str, compile_on: Compile) -> None:
    """0.25 + 0.15 + 0.1 + 0.2 of Main VCPUs, (2 - 0.05) 0.05 of the I/O VCPU, and of `loop`'s 1,000 us five switches, two top halves of the line and
    one of the heartbeat, and one more of each. `loop` has 250 us, five switches, a top half of each and one more; `hog` 300 + 250 us, six switches,
    two top halves of the line (500 us apart) and one beat, and one more of each."""
    (core,) = plan_json(compile_on(PARTITIONS / "realtime.dts", platform), load(platform))["schedulability"]
    switches, top_half = 5 * COSTS.switch, COSTS.top_half
    vcpus = core.pop("vcpus")
    assert {name: round(value, 4) if isinstance(value, float) else value for name, value in core.items()} == {
        "sandbox": "control",
        "cpu": 1,
        "scheduler": "rate-monotonic",
        "admitted_by": "response-time",
        "asked": round(0.70 + 0.0975 + (switches + 5 * top_half) / 1_000_000, 4),
        "bound": 0.7568,
        "exact": False,
    }
    assert vcpus[1] == {
        "name": "hog",
        "kind": "main",
        "budget_us": 300,
        "period_us": 2000,
        "utilization": 0.15,
        "response_us": 550 + (switches + COSTS.switch + 5 * top_half) // 1000,
    }
    assert [(one["name"], one["kind"]) for one in vcpus] == [
        ("loop", "main"),
        ("hog", "main"),
        ("echo", "io"),
        ("findprimes", "main"),
        ("main", "main"),
    ]
    assert (vcpus[0]["response_us"], vcpus[2]["budget_us"]) == (250 + (switches + 4 * top_half) // 1000, 100)


def test_json_without_vcpus(compile_on: Compile) -> None:
    assert plan_json(compile_on(PARTITIONS / "native.dts", ANY), load(ANY))["schedulability"] == []
