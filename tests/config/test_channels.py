# SPDX-License-Identifier: Apache-2.0
"""BH-F1.plan, BH-F1.handed, BH-F6.memory. Channels of a partition file: where they lie, what their two ends see of them and are told, and that nobody else sees anything."""

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from bhtool import abi
from bhtool.abi import lib
from bhtool.config.channels import DEFAULT_SLOT_BYTES, area_bytes
from bhtool.config.compile import survey_partition
from bhtool.config.explain import explain
from bhtool.config.pack import Want, pack
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.config.pool import own_spans
from bhtool.config.rules import BY_ID
from bhtool.config.span import MIB2, Span
from bhtool.oracle.policy import places_of, read_partitioning
from bhtool.paths import PARTITIONS
from bhtool.platforms import load
from bhtool.report.check_json import plan_json
from bhtool.report.given_up import machine_memory, memory_of
from bhtool.verbs.check import allocation_table
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

Compile = Callable[[Path, str], Plan]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
PLATFORMS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
ANY = PLATFORMS[0]
FIRST = {"qemu-svm": 0xFD100000, "bochs-vtx": 0xFD100000}  # where a sandbox sees its first channel
FIRST_ON_ARM = 0x0C100000
PAGE, KIB, MIB = 0x1000, 1 << 10, 1 << 20


def channel(name: str, sender: str, receiver: str, *more: str) -> str:
    return f'{name} {{ compatible = "bulkhead,channel-v1"; from = <&{sender}>; to = <&{receiver}>; {" ".join(more)} }};\n'


RING, LATEST, MAILBOX = 'kind = "ring"; slots = <16>; slot-bytes = <64>;', 'kind = "latest"; slot-bytes = <4096>;', 'kind = "mailbox";'
THREE = (channel("samples", "one", "two", RING), channel("speed", "two", "linux", LATEST), channel("orders", "linux", "two"))


def written(folder: Path, *channels: str, more: str = "") -> Path:
    file = folder / "f.dts"
    file.write_text(f'#include "{GOOD}"\n&domains {{\n{"".join(channels)}}};\n{more}\n')
    return file


def sandbox(plan: Plan, name: str) -> SandboxPlan:
    return next(one for one in plan.sandboxes if one.name == name)


def regions(plan: Plan, name: str) -> list[tuple[int, int, int, str]]:
    return [(one.gpa, one.hpa, one.size, one.permissions) for one in sandbox(plan, name).regions if one.kind == "channel"]


def grants(plan: Plan, name: str) -> list[Any]:
    pool = sandbox(plan, name).pool_hpa
    info = abi.view("bh_info", next(piece.data for piece in plan.segments if piece.hpa == pool + lib.BH_POOL_INFO))
    return [row for row in list(info.grants)[: info.grant_count] if row.kind == lib.BH_GRANT_CHANNEL]


def rules(plan: Plan) -> list[str]:
    return [one.rule for one in plan.errors]


# ---- where they lie -----------------------------------------------------------------------------------------------------------------


def test_what_the_sizes_here_are_made_with() -> None:
    """abi/channel.h."""
    sizes = [abi.sizeof(f"bh_channel_{name}") for name in ("control", "slot", "end")]
    assert [*sizes, abi.sizeof("bh_channel")] == [256, 64, 64, 256]


@pytest.mark.parametrize(
    ("slots", "slot_bytes", "expected"),
    [
        (1, 64, 4 * KIB),
        (1, 4096, 8 * KIB),  # 256 + 4,160
        (4, 64, 4 * KIB),
        (16, 64, 4 * KIB),  # 256 + 16 * 128 = 2,304
        (30, 64, 4 * KIB),  # 256 + 30 * 128 = 4,096
        (32, 64, 8 * KIB),
        (8, 4096, 36 * KIB),  # 256 + 8 * 4,160 = 33,536
        (1, MIB, MIB + 4 * KIB),
    ],
)
def test_bytes_of_an_area(slots: int, slot_bytes: int, expected: int) -> None:
    assert area_bytes(slots, slot_bytes) == expected


@pytest.mark.parametrize("platform", PLATFORMS)
def test_rows_of_the_table(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, *THREE, more='&linux { modules = "bulkhead"; };'), platform)
    assert (plan.errors, plan.warnings) == ([], [])
    table = abi.view("bh_table", plan.table)
    assert table.channel_count == 3
    rows = [
        (abi.text(row.name), list(row.sandbox), row.kind, row.slots, row.slot_bytes, list(row.area_bytes))
        for row in list(table.channels)[:3]
    ]
    assert rows == [
        ("samples", [0, 1], lib.BH_CHANNEL_RING, 16, 64, [4 * KIB, 4 * KIB]),
        ("speed", [1, 2], lib.BH_CHANNEL_LATEST, 4, 4096, [20 * KIB, 4 * KIB]),
        ("orders", [2, 1], lib.BH_CHANNEL_MAILBOX, 1, 4096, [8 * KIB, 8 * KIB]),
    ]
    assert [row.hpa for row in list(table.channels)[:3]] == [one.hpa for one in plan.channels]
    assert all(row.hpa == 0 for row in list(table.channels)[3:])
    shared = [row for row in list(table.regions)[: table.region_count] if row.kind == lib.BH_REGION_CHANNEL]
    assert len(shared) == 3 * 2 * 2
    assert {(row.memory_type, row.dma) for row in shared} == {(lib.BH_MEMORY_RAM, lib.BH_DMA_UNKNOWN)}
    assert {row.permissions for row in shared} == {lib.BH_PERM_READ, lib.BH_PERM_READ | lib.BH_PERM_WRITE}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_each_end_sees_all_and_writes_its_own(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, *THREE), platform)
    samples, speed, orders = (one.hpa for one in plan.channels)
    gpa = FIRST.get(platform, FIRST_ON_ARM)
    assert regions(plan, "one") == [(gpa, samples, 0x1000, "rw"), (gpa + 0x1000, samples + 0x1000, 0x2000, "r")]
    assert regions(plan, "two") == [
        (gpa, samples, 0x2000, "r"),
        (gpa + 0x2000, samples + 0x2000, 0x1000, "rw"),
        (gpa + 0x3000, speed, 0x5000, "rw"),
        (gpa + 0x8000, speed + 0x5000, 0x2000, "r"),
        (gpa + 0xA000, orders, 0x3000, "r"),
        (gpa + 0xD000, orders + 0x3000, 0x2000, "rw"),
    ]
    assert regions(plan, "linux") == [
        (gpa, speed, 0x6000, "r"),
        (gpa + 0x6000, speed + 0x6000, 0x1000, "rw"),
        (gpa + 0x7000, orders, 0x2000, "rw"),
        (gpa + 0x9000, orders + 0x2000, 0x3000, "r"),
    ]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_each_end_is_told(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, *THREE), platform)
    gpa = FIRST.get(platform, FIRST_ON_ARM)

    def told(name: str) -> list[tuple[Any, ...]]:
        return [
            (abi.text(row.name), row.gpa, row.size, row.vector, row.line, abi.text(row.compatible), row.flags) for row in grants(plan, name)
        ]

    assert told("one") == [("samples", gpa, 0x3000, 0, 0x1000, "two", 0)]
    assert told("two") == [
        ("samples", gpa, 0x3000, 1, 0x1000, "one", 0),
        ("speed", gpa + 0x3000, 0x7000, 0, 0x5000, "linux", 0),
        ("orders", gpa + 0xA000, 0x5000, 1, 0x2000, "linux", 0),
    ]
    assert told("linux") == [("speed", gpa, 0x7000, 1, 0x5000, "two", 0), ("orders", gpa + 0x7000, 0x5000, 0, 0x2000, "two", 0)]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_channels_are_nobody_elses_memory(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    """Beside a sandbox that restarts, one that takes the rest, and tables of an IOMMU where there is one."""
    more = '&one { health { on-fault = "restart"; max-restarts = <3>; }; };\n&linux { takes-the-rest; /delete-property/ memory-region; };\n/delete-node/ &linux_ram;'
    large = channel("large", "one", "linux", 'kind = "ring"; slot-bytes = <0x10000>; slots = <64>;')
    plan = compile_on(written(tmp_path, *THREE, large, more=more), platform)
    assert plan.errors == []
    held = [one for one in plan.holdings if one.kind == "memory"]
    for first, second in combinations(held, 2):
        assert not Span(first.start, first.size).overlaps(Span(second.start, second.size)), (first, second)
    mine = {one.what: one for one in held if one.what.startswith("channel ")}
    assert {(one.start, one.size) for one in mine.values()} == {(one.hpa, one.size) for one in plan.channels}
    assert "channel `samples` from `one` to `two`" in mine
    for one in plan.channels:
        assert one.hpa % PAGE == 0
        assert any(Span(*ram).holds(Span(one.hpa, one.size)) for ram in plan.ram)
        for other in plan.sandboxes:
            reached = [region for region in other.regions if Span(region.hpa, region.size).overlaps(Span(one.hpa, one.size))]
            assert {region.kind for region in reached} == ({"channel"} if other.index in one.ends else set())
            assert sum(region.size for region in reached) == (one.size if other.index in one.ends else 0)
    for other in plan.sandboxes:
        seen = [Span(region.gpa, region.size) for region in (*other.regions, *other.configuration)]
        assert not any(first.overlaps(second) for first, second in combinations(seen, 2))
        assert not other.for_functions


@pytest.mark.parametrize("platform", PLATFORMS)
def test_monitors_of_both_ends_map_its_page_and_their_own_control(platform: str, tmp_path: Path) -> None:
    """One to one in their own space, so the frames of the tables for that are counted."""
    plan, domains = survey_partition(written(tmp_path, THREE[0]), load(platform))
    assert domains
    assert plan.channels[0].page == plan.channels[0].hpa + 0x1000
    for one, its in zip(domains.sandboxes, plan.sandboxes, strict=True):
        spans = list(own_spans(domains.machine, one, its, plan))
        first = plan.channels[0].hpa
        mapped = [any(span.start <= page < span.end for span in spans) for page in (first, first + PAGE, first + 2 * PAGE)]
        assert mapped == {"one": [True, True, False], "two": [False, True, True]}.get(one.name, [False] * 3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 700), max_size=4), st.lists(st.integers(1, 3), max_size=3), st.integers(0, 3))
def test_channels_are_packed_as_copies_are(pages: list[int], ram: list[int], copies: int) -> None:
    """Of the same size, they fit where copies would."""
    free = [Span(MIB, 5 * MIB + 12 * KIB), Span(8 * MIB, 6 * MIB)]

    def wants(kind: Any) -> list[Want]:
        return [
            *(Want("ram", n, units * MIB2) for n, units in enumerate(ram)),
            *(Want("copy", n, 5 * PAGE) for n in range(copies)),
            *(Want(kind, 10 + n, count * PAGE) for n, count in enumerate(pages)),
        ]

    found = pack(free, wants("channel"))
    assert (found is None) == (pack(free, wants("copy")) is None)
    laid = [Span(start, want.size) for want, start in (found or {}).items()]
    assert all(not first.overlaps(second) for first, second in combinations(laid, 2))
    assert all(any(span.holds(one) for span in free) and one.start % PAGE == 0 for one in laid)


def test_without_channels_nothing_moves(compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path), ANY)
    assert plan.channels == []
    assert abi.view("bh_table", plan.table).channel_count == 0
    assert all(not regions(plan, one.name) and not grants(plan, one.name) for one in plan.sandboxes)


def test_open_memory_goes_around_channels(compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, *THREE, more='&two { unprotected = "memory"; };'), ANY)
    assert plan.errors == []
    seen = [Span(region.gpa, region.size) for region in sandbox(plan, "two").regions]
    assert not any(first.overlaps(second) for first, second in combinations(seen, 2))


# ---- what is refused, and what just fits ------------------------------------------------------------------------------------------


def test_defaults(compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, channel("box", "one", "two"), channel("ring", "one", "two", 'kind = "ring";')), ANY)
    assert [(one.kind, one.slots, one.slot_bytes) for one in plan.channels] == [("mailbox", 1, 4096), ("ring", 8, 4096)]


@pytest.mark.parametrize("words", ["slot-bytes = <64>;", "slot-bytes = <0x100000>;", 'kind = "ring"; slots = <2>;',
                                   'kind = "ring"; slots = <1024>; slot-bytes = <4032>;', 'kind = "latest"; slot-bytes = <0x100000>;'])  # fmt: skip
def test_the_smallest_and_the_largest(words: str, compile_on: Compile, tmp_path: Path) -> None:
    assert rules(compile_on(written(tmp_path, channel("it", "one", "linux", words)), ANY)) == []


@pytest.mark.parametrize("readers", range(1, lib.BH_CHANNEL_MOST_READERS + 1))
def test_each_reader_costs_a_pair_of_slots(readers: int, compile_on: Compile, tmp_path: Path) -> None:
    """The oracle has worked out the same."""
    file = written(tmp_path, channel("it", "one", "linux", f'kind = "latest"; slot-bytes = <4032>; readers = <{readers}>;'))
    plan = compile_on(file, ANY)
    assert rules(plan) == []
    row = abi.view("bh_table", plan.table).channels[0]
    assert (row.slots, list(row.area_bytes)) == (2 * readers + 2, [(2 * readers + 3) * PAGE, PAGE])
    (seen,) = read_partitioning(file, load(ANY), places_of(plan)).channels
    assert (seen.span.start, seen.span.size) == (row.hpa, (2 * readers + 5) * PAGE)


def test_a_name_of_31_characters(compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, channel("c" * 31, "one", "two")), ANY)
    assert rules(plan) == []
    assert abi.text(abi.view("bh_table", plan.table).channels[0].name) == "c" * 31
    assert rules(compile_on(written(tmp_path, channel("c" * 32, "one", "two")), ANY))[:1] in (["BH-R011"], ["BH-W001"])


@pytest.mark.parametrize("platform", PLATFORMS)
def test_sixteen_channels(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    several = [channel(f"c{n}", "one", "two", RING) for n in range(17)]
    plan = compile_on(written(tmp_path, *several[:16]), platform)
    assert rules(plan) == []
    assert abi.view("bh_table", plan.table).channel_count == 16
    assert len(grants(plan, "two")) == 16
    assert rules(compile_on(written(tmp_path, *several), platform)) == ["BH-R164"]


def test_grants_beside_devices(compile_on: Compile, tmp_path: Path) -> None:
    """BH-I7.tool. 38 rows: RAM, statistics, log, two of the interrupt controller, 16 channels, 17 devices."""
    devices = "".join(
        f'd{n}: device@b{n:03x}000 {{ compatible = "example,device"; bulkhead,dma-free = "a stand-in"; reg = <0x0 0xb{n:03x}000 0x0 0x1000>; }};'
        for n in range(18)
    )
    channels = "".join(channel(f"c{n}", "one", "two", RING) for n in range(16))
    file = tmp_path / "f.dts"
    for count, expected in ((17, []), (18, ["BH-R070"])):
        access = f"&two {{ access = {', '.join(f'<&d{n}>' for n in range(count))}; }};"
        file.write_text(f'#ifdef BOARD_TREE\n/ {{ {devices} }};\n#else\n#include "{GOOD}"\n&domains {{ {channels} }};\n{access}\n#endif\n')
        plan = compile_on(file, ANY)
        assert rules(plan) == expected
        assert not expected or "`two` has 39 grants, 38 fit; take devices out of `access`, or VCPUs or channels out" in plan.errors[0].text


def test_regions_beside_devices(compile_on: Compile, tmp_path: Path) -> None:
    """BH-I7.tool. 96 rows, 64 of them of channels."""
    devices = "".join(
        f'd{n}: device@b{n:03x}000 {{ compatible = "example,device"; bulkhead,dma-free = "a stand-in"; reg = <0x0 0xb{n:03x}000 0x0 0x1000>; }};'
        for n in range(20)
    )
    channels = "".join(channel(f"c{n}", "one", "two", RING) for n in range(16))
    file = tmp_path / "f.dts"
    for count, expected in ((18, []), (19, ["BH-R071"])):  # three sandboxes with four rows each, two UARTs
        access = f"&linux {{ access = <&uart1>, {', '.join(f'<&d{n}>' for n in range(count))}; }};"
        file.write_text(f'#ifdef BOARD_TREE\n/ {{ {devices} }};\n#else\n#include "{GOOD}"\n&domains {{ {channels} }};\n{access}\n#endif\n')
        plan = compile_on(file, ANY)
        assert rules(plan) == expected
        if not expected:
            assert abi.view("bh_table", plan.table).region_count == lib.BH_MAX_REGIONS


def ring(slots: int, slot_bytes: int) -> str:
    return f'kind = "ring"; slots = <{slots}>; slot-bytes = <{slot_bytes}>;'


def test_eight_mebibytes_to_the_page(compile_on: Compile, tmp_path: Path) -> None:
    """A mailbox of 20 KiB, 12 KiB of others, and a ring whose area is the rest but two pages."""
    rest = 8 * MIB - 20 * KIB - 12 * KIB - 8 * KIB
    slot_bytes = (rest - 256) // 8 - 64 & -64
    assert area_bytes(8, slot_bytes) == rest
    small = (channel("box", "two", "one"), channel("small", "linux", "one", RING))
    plan = compile_on(written(tmp_path, *small, channel("large", "one", "two", ring(8, slot_bytes))), ANY)
    assert rules(plan) == []
    assert sum(one.size for one in plan.channels) == 8 * MIB
    more = compile_on(written(tmp_path, *small, channel("large", "one", "two", ring(8, slot_bytes + 512))), ANY)
    assert rules(more) == ["BH-R165"]


TOO_LARGE = [
    (ring(1024, 0x100000), ()),
    (ring(8, 0x100000), (MAILBOX,)),
    (ring(256, 65536), (LATEST, RING)),
    (ring(2, 1 << 20), (ring(4, 1 << 20), ring(2, 1 << 20))),
]
FITS = re.compile(r"(?:(?P<slots>[\d,]+) slots)?(?: or )?(?:(?P<bytes>[\d,]+) `slot-bytes` at most)? for `(?P<who>\w+)`")


@pytest.mark.parametrize(("words", "others"), TOO_LARGE)
def test_what_would_fit_fits_and_no_more(words: str, others: tuple[str, ...], compile_on: Compile, tmp_path: Path) -> None:
    """BH-I7.tool. A refusal says how much there is, and what can be written instead."""
    said = [words, *others]

    def compiled(changed: list[str]) -> Plan:
        return compile_on(written(tmp_path, *(channel(f"c{n}", "one", "two", one) for n, one in enumerate(changed))), ANY)

    found = compiled(said).errors
    assert [one.rule for one in found] == ["BH-R165"]  # once, and not of each end
    for error in found:
        assert "and its window has 8 MiB for them; " in error.text
        _, _, words_of_fit = error.text.partition("all would fit with ")
        fits = FITS.match(words_of_fit)
        assert fits, error.text
        who = int(fits["who"].removeprefix("c"))
        slots, slot_bytes = (int(one) for one in re.findall(r"<(\w+)>", said[who]))
        if fits["slots"]:
            count = int(fits["slots"].replace(",", ""))
            for amount, expected in ((count, []), (count * 2, ["BH-R165"])):
                assert rules(compiled([*said[:who], ring(amount, slot_bytes), *said[who + 1 :]])) == expected
        if fits["bytes"]:
            size = int(fits["bytes"].replace(",", ""))
            for amount, expected in ((size, []), (size + 64, ["BH-R165"])):
                assert rules(compiled([*said[:who], ring(slots, amount), *said[who + 1 :]])) == expected
        assert fits["slots"] or fits["bytes"]


def test_a_window_that_no_one_alone_could_make_fit(compile_on: Compile, tmp_path: Path) -> None:
    several = [channel(f"c{n}", "one", "two", ring(4, 0xF0000)) for n in range(4)]
    (first,) = compile_on(written(tmp_path, *several), ANY).errors
    assert "the 4 channels of `one` take 15,408 KiB, and its window has 8 MiB for them" in first.text
    assert "no smaller `c0` alone would help; make slots smaller or fewer" in first.text


@pytest.mark.parametrize("who", ["one", "two"])
def test_what_would_fit_fits_both_ends(who: str, compile_on: Compile, tmp_path: Path) -> None:
    """It is told once, of the end that has less room."""
    other = channel("other", "linux", who, "slot-bytes = <65536>;")
    (error,) = compile_on(written(tmp_path, channel("large", "one", "two", ring(8, 0x100000)), other), ANY).errors
    assert f"the 2 channels of `{who}` take " in error.text
    size = int(re.findall(r"([\d,]+) `slot-bytes` at most for `large`", error.text)[0].replace(",", ""))
    for amount, expected in ((size, []), (size + 64, ["BH-R165"])):
        assert rules(compile_on(written(tmp_path, channel("large", "one", "two", ring(8, amount)), other), ANY)) == expected


# ---- who is told --------------------------------------------------------------------------------------------------------------------


def test_a_crash_there_is_explained(compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, *THREE), ANY)
    said = explain(plan, 0, "memory", FIRST_ON_ARM + 0x1000)
    assert said == "0xc101000 is `one`'s own read-only part of channel `samples`, which it may access as r only"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_example_is_good(platform: str, compile_on: Compile) -> None:
    plan = compile_on(PARTITIONS / "channels.dts", platform)
    assert (plan.errors, plan.warnings) == ([], [])
    names = [one.name for one in plan.sandboxes]
    assert [(one.name, one.kind, names[one.ends[0]], names[one.ends[1]]) for one in plan.channels] == [
        ("samples", "ring", "sensor", "control"),
        ("samples-on", "ring", "control", "linux"),
        ("speed", "latest", "control", "linux"),
        ("orders", "mailbox", "linux", "control"),
        ("sensor-telemetry", "latest", "sensor", "linux"),
        ("control-telemetry", "latest", "control", "linux"),
        ("sensor-says", "ring", "sensor", "linux"),
        ("sensor-hears", "ring", "linux", "sensor"),
        ("control-says", "ring", "control", "linux"),
        ("control-hears", "ring", "linux", "control"),
    ]


def test_a_terminal_is_told_to_the_kernel_and_to_linux(compile_on: Compile) -> None:
    plan = compile_on(PARTITIONS / "channels.dts", ANY)
    flags = {abi.text(row.name): row.flags for row in grants(plan, "control")}
    assert {name for name, one in flags.items() if one == lib.BH_CHANNEL_TERMINAL} == {"control-says", "control-hears"}
    assert {name for name, one in flags.items() if one == lib.BH_CHANNEL_TELEMETRY} == {"control-telemetry"}


def test_a_slot_is_large_enough_for_telemetry_unless_said_otherwise() -> None:
    assert lib.BH_TELEMETRY_BYTES <= DEFAULT_SLOT_BYTES
    assert f"{lib.BH_TELEMETRY_BYTES:,} bytes" in BY_ID["BH-R182"].holds


def test_the_allocation_shows_whose_they_are(compile_on: Compile) -> None:
    console = Console(width=200)
    with console.capture() as shown:
        console.print(allocation_table(compile_on(PARTITIONS / "channels.dts", ANY)))
    rows = [line.strip() for line in shown.get().splitlines() if " channel `" in line]
    assert len(rows) == 10
    assert next(row for row in rows if "`samples`" in row).endswith("  sensor, control")
    assert next(row for row in rows if "`orders`" in row).endswith("  linux, control")


def test_json_lists_them(compile_on: Compile, tmp_path: Path) -> None:
    """docs/versions.md: what a key means stays."""
    plan = compile_on(written(tmp_path, *THREE), ANY)
    samples, speed, orders = (one.hpa for one in plan.channels)
    channels = plan_json(plan, load(ANY))["channels"]
    assert all(one.pop("delay")["bound_ns"] is None for one in channels)
    assert not any(one.pop("on_request") for one in channels)
    assert channels == [
        {"name": "samples", "from": "one", "to": "two", "kind": "ring", "slot_bytes": 64, "slots": 16, "bytes": 0x3000, "hpa": samples},
        {"name": "speed", "from": "two", "to": "linux", "kind": "latest", "slot_bytes": 4096, "slots": 4, "bytes": 0x7000, "hpa": speed},
        {"name": "orders", "from": "linux", "to": "two", "kind": "mailbox", "slot_bytes": 4096, "slots": 1, "bytes": 0x5000, "hpa": orders},
    ]


ASIDE = channel("aside", "one", "two", RING, "on-request;")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_is_opened_on_request_lies_alone(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    """BH-F6.request. Each in stretches of its own, apart from those that are always there, whatever stands between them in the file."""
    whole = channel("whole", "two", "one", 'kind = "ring"; slots = <4>; slot-bytes = <0x7f000>; on-request;')
    plan = compile_on(written(tmp_path, ASIDE, THREE[0], whole), platform)
    first = FIRST.get(platform, FIRST_ON_ARM)
    alone = first + 0x900000 + -(first + 0x900000) % MIB2
    starts = {one.name.split("`")[1]: one.gpa for one in reversed(sandbox(plan, "one").regions) if one.kind == "channel"}
    assert starts == {"samples": first, "aside": alone, "whole": alone + MIB2}
    assert [one.on_request for one in plan.channels] == [True, False, True]
    flags = {abi.text(row.name): row.flags for row in grants(plan, "two") if row.kind == lib.BH_GRANT_CHANNEL}
    assert flags == {"aside": lib.BH_CHANNEL_ON_REQUEST, "samples": 0, "whole": lib.BH_CHANNEL_ON_REQUEST}
    assert [row.flags for row in list(abi.view("bh_table", plan.table).channels)[:3]] == [
        lib.BH_CHANNEL_ON_REQUEST,
        0,
        lib.BH_CHANNEL_ON_REQUEST,
    ]
    assert [one["on_request"] for one in plan_json(plan, load(platform))["channels"]] == [True, False, True]


WIDE = [platform for platform in PLATFORMS if platform != "qemu-armv7"]
VAST_AT, GIB = 3 << 36, 1 << 30


def vast(name: str, slots: int, slot_bytes: int) -> str:
    return channel(name, "one", "two", ring(slots, slot_bytes), "on-request;")


@pytest.mark.parametrize("platform", WIDE)
def test_what_is_larger_has_a_stretch_of_a_gibibyte(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    """BH-F6.request. It begins at a round address of the machine, too, where its tables are fewer, and so do others of its size."""
    plan = compile_on(written(tmp_path, vast("first", 4, 0x80000), ASIDE, vast("second", 512, 0x80000)), platform)
    assert rules(plan) == []
    starts = {one.name.split("`")[1]: one.gpa for one in reversed(sandbox(plan, "two").regions) if one.kind == "channel"}
    assert (starts["first"], starts["second"]) == (VAST_AT, VAST_AT + GIB)
    assert starts["aside"] % MIB2 == 0
    assert starts["aside"] < VAST_AT
    assert {one.name: one.hpa % MIB2 == 0 for one in plan.channels if one.name != "aside"} == {"first": True, "second": True}


def test_a_gibibyte_to_the_page(compile_on: Compile, tmp_path: Path) -> None:
    """Its areas, and the page between them; 64 bytes more in each of 1,024 slots are too many."""
    most = (GIB - 3 * PAGE) // 1024 - 64 & -64
    assert rules(compile_on(written(tmp_path, vast("vast", 1024, most)), ANY)) == []
    (refused,) = compile_on(written(tmp_path, vast("vast", 1024, most + 64)), ANY).errors
    assert "one with `on-request` has 1 GiB at most here; it would fit with 512 slots or " in refused.text


def test_what_an_address_of_32_bits_cannot_reach(compile_on: Compile, tmp_path: Path) -> None:
    (refused,) = compile_on(written(tmp_path, vast("vast", 4, 0x80000)), "qemu-armv7").errors
    assert refused.rule == "BH-R165"
    assert "one with `on-request` has 2 MiB at most here; it would fit with 2 slots or " in refused.text


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_check_prints_adds_up(platform: str, compile_on: Compile, tmp_path: Path) -> None:
    """BH-F1.memory."""
    plan = compile_on(written(tmp_path, *THREE), platform)
    once = dict(machine_memory(plan))
    assert once["channel `samples` from `one` to `two`"] == 0x3000
    assert sum(once.values()) + sum(one.ram_size + memory_of(one)["given_up_bytes"] for one in plan.sandboxes) == load(platform).ram_size


def test_who_sends_to_whom_is_told(compile_on: Compile, tmp_path: Path) -> None:
    """A mailbox goes both ways."""
    plan = compile_on(written(tmp_path, *THREE, channel("more", "one", "two")), ANY)
    assert [one.reaches for one in plan.sandboxes] == [[(1, "channel")], [(2, "channel"), (0, "channel")], [(1, "channel")]]
