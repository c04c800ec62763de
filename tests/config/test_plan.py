# SPDX-License-Identifier: Apache-2.0
"""BH-F1.plan. Plans of good partition files: nothing overlaps, the monitor accepts the table, and every byte lies where it must."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from bhtool import abi
from bhtool.config.budget import tables_of
from bhtool.config.plan import Plan, Region
from bhtool.config.span import Span
from bhtool.config.table import checksum
from bhtool.image.module import with_module
from bhtool.paths import PARTITIONS
from bhtool.platforms import load

PLATFORMS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
EXAMPLES = sorted(PARTITIONS.glob("*.dts"))
DEVICES = "devices.dts"  # for boards with network cards and a disc
Compile = Callable[[Path, str], Plan]


def fits(example: Path, platform: str) -> bool:
    return example.name != DEVICES or len(load(platform).nics) > 2


@pytest.fixture
def platform(request: pytest.FixtureRequest) -> str:
    return str(request.param)


PLANS: dict[tuple[Path, str], Plan] = {}  # compiled once: nobody changes one


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each platform, and where there is a plan each partition file that is for it."""
    mark = {name: pytest.mark.xdist_group(f"plans-{name}") for name in PLATFORMS}
    pairs = [(example, name) for name in PLATFORMS for example in EXAMPLES if fits(example, name)]
    if "plan" in metafunc.fixturenames:
        rows = [pytest.param(example, name, id=f"{example.stem}-{name}", marks=mark[name]) for example, name in pairs]
        metafunc.parametrize(("plan", "platform"), rows, indirect=True)
    elif "platform" in metafunc.fixturenames:
        metafunc.parametrize("platform", [pytest.param(name, marks=mark[name]) for name in PLATFORMS], indirect=True)


@pytest.fixture
def plan(request: pytest.FixtureRequest, platform: str, compile_as_shipped: Compile) -> Plan:
    key = (request.param, platform)
    if key not in PLANS:
        PLANS[key] = compile_as_shipped(*key)
    return PLANS[key]


def test_examples_are_good(plan: Plan) -> None:
    assert (plan.errors, plan.warnings) == ([], [])


def test_monitor_accepts_the_table(plan: Plan, platform: str, monitor_refuses: Callable[[str, bytes], str]) -> None:
    assert monitor_refuses(platform, plan.table) == ""


def test_monitor_accepts_the_table_of_a_boot_module(plan: Plan, platform: str, monitor_refuses: Callable[[str, bytes], str]) -> None:
    assert monitor_refuses(platform, with_module(plan)[0].table) == ""


def test_monitor_and_tool_agree_on_the_checksum(plan: Plan, platform: str, monitor_refuses: Callable[[str, bytes], str]) -> None:
    damaged = bytearray(plan.table)
    damaged[-1] ^= 1
    assert "checksum" in monitor_refuses(platform, bytes(damaged))
    assert abi.view("bh_table", plan.table).checksum == checksum(plan.table)


def test_compiling_twice_gives_the_same(platform: str, compile_on: Compile) -> None:
    for example in (one for one in EXAMPLES if fits(one, platform)):
        first, second = compile_on(example, platform), compile_on(example, platform)
        assert (first.table, first.segments) == (second.table, second.segments)


def test_segments_lie_in_their_sandbox_and_apart(plan: Plan) -> None:
    for segment in plan.segments:
        one = next(one for one in plan.sandboxes if segment.name.startswith(f"{one.name}: "))
        span = Span(segment.hpa, len(segment.data))
        info = Span(one.pool_hpa + abi.lib.BH_POOL_INFO, abi.lib.BH_PAGE_BYTES)
        assert any(Span(part.hpa, part.size).holds(span) for part in one.ram) or info.holds(span), segment.name
    spans = [(segment.name, Span(segment.hpa, len(segment.data))) for segment in plan.segments]
    for (first, first_span), (second, second_span) in combinations(spans, 2):
        assert not first_span.overlaps(second_span), (first, second)


def test_memory_holdings_of_different_owners_are_apart(plan: Plan) -> None:
    for kind in ("memory", "port"):
        held = [one for one in plan.holdings if one.kind == kind]
        for first, second in combinations(held, 2):
            assert not Span(first.start, first.size).overlaps(Span(second.start, second.size)), (first, second)


def test_entry_lies_in_a_segment(plan: Plan) -> None:
    for one in plan.sandboxes:
        entry, _ = next(one.in_machine(one.entry, 1))
        assert any(segment.hpa <= entry < segment.hpa + len(segment.data) for segment in plan.segments)


def test_info_page_tells_what_the_plan_gives(plan: Plan) -> None:
    for one in plan.sandboxes:
        page = next(segment for segment in plan.segments if segment.hpa == one.pool_hpa + abi.lib.BH_POOL_INFO)
        info = abi.view("bh_info", page.data)
        rows = [info.grants[n] for n in range(info.grant_count)]
        assert (abi.text(info.name), list(info.cores)[: info.core_count]) == (one.name, one.cores)
        assert [(row.gpa, row.size) for row in rows if row.kind == abi.lib.BH_GRANT_RAM] == [(one.ram_gpa, one.ram_size)]
        lines = {row.line for row in rows if row.kind != abi.lib.BH_GRANT_CHANNEL} - {abi.lib.BH_LINE_NONE}  # an offset there
        assert lines == {line.line for line in one.lines}
        others = (abi.lib.BH_GRANT_VCPU, abi.lib.BH_GRANT_CHANNEL)  # a percentage, and which end it is
        vectors = {row.vector for row in rows if row.kind not in others}
        assert vectors - {0} == {line.vector for line in one.lines} - {0}
        pages = {row.gpa & -abi.lib.BH_PAGE_BYTES for row in rows if row.kind == abi.lib.BH_GRANT_DEVICE}
        assert pages == {region.gpa for region in one.regions if region.kind in ("device", "bar")}


def test_structures_fit_their_places() -> None:
    assert abi.sizeof("bh_info") <= abi.lib.BH_PAGE_BYTES
    assert abi.sizeof("bh_stats") <= abi.lib.BH_PAGE_BYTES
    assert abi.sizeof("bh_crash") <= abi.lib.BH_PAGE_BYTES
    assert abi.sizeof("bh_log") == abi.lib.BH_LOG_BYTES
    assert abi.sizeof("bh_table") % 8 == 0


GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10


@pytest.mark.parametrize(
    ("arch", "gpa", "hpa", "size", "tables"),
    [
        ("aarch64", 0x40000000, 2 * GIB, GIB, 4 * KIB),  # the root alone
        ("aarch64", 0x40000000, 2 * GIB + 2 * MIB, GIB, 8 * KIB),  # 2 MiB leaves
        ("aarch64", 0x40000000, 2 * GIB + 4 * KIB, 2 * MIB, 12 * KIB),  # 4 KiB leaves
        ("aarch64", 0x40000000, 2 * GIB, 2 * GIB, 4 * KIB),
        ("armv7", 0x40000000, 2 * GIB, GIB, 4 * KIB),  # the root has four entries, in a page of its own
        ("armv7", 0x40000000, 2 * GIB + 2 * MIB, GIB, 8 * KIB),
        ("armv7", 0x40000000, 2 * GIB + 4 * KIB, 2 * MIB, 12 * KIB),
        ("x86_64", 0, GIB, GIB, 8 * KIB),  # PML4, PDPT
        ("x86_64", 0, 2 * MIB, GIB, 12 * KIB),  # and a PD
        ("x86_64", 0, 2 * MIB, GIB + 2 * MIB, 16 * KIB),  # and two
    ],
)
def test_table_bytes(arch: str, gpa: int, hpa: int, size: int, tables: int) -> None:
    """Counted by hand from the formats' geometry; 1 GiB aligned stays within the 12 KiB the design allows."""
    assert len(tables_of([Region("ram", "ram", gpa, hpa, size, "rwx")], arch)) * 4 * KIB == tables


def test_a_gibibyte_costs_little(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    """On an aligned block, where there is one, a single leaf maps it; on a PC firmware sits at the end of the second GiB."""
    source = (PARTITIONS / "mixed.dts").read_text().replace("<MiB(512)>", "<MiB(1024)>")
    (tmp_path / "large.dts").write_text(source)
    plan = compile_on(tmp_path / "large.dts", platform)
    assert plan.valid
    assert plan.sandboxes[2].ram_table_bytes == (12 * KIB if platform in ("qemu-svm", "bochs-vtx") else 4 * KIB)
