# SPDX-License-Identifier: Apache-2.0
"""BH-E1.oracle. What the oracle reads out of a partition file."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from bhtool.config.span import Span
from bhtool.oracle.policy import Partitioning, Placed, Policy, Translator, misplaced, read_partitioning
from bhtool.platforms import Platform, every, load

PARTITION = """\
#define MiB(n) 0x0 ((n) << 20)
#include BOARD_DTSI
/ {
	reserved-memory {
		#address-cells = <2>; #size-cells = <2>; ranges;
		one_ram: one { size = <MiB(16)>; };
		two_ram: two { size = <MiB(8)>; };
	};
	domains {
		compatible = "bulkhead,partitions-v1";
		idle-cores = <&cpu2>, <&cpu3>;
		one: one {
			compatible = "bulkhead,sandbox-v1"; cores = <&cpu1>; memory-region = <&one_ram>; image = "sandbox-kernel.elf";
			access = <&uart1>; console = "log"; log-access = <&two>;
		};
		two: two {
			compatible = "bulkhead,sandbox-v1"; cores = <&cpu0>; memory-region = <&two_ram>; image = "sandbox-kernel.elf";
			console = "log"; unprotected = "memory", "msr"; health { on-fault = "restart"; };
		};
	};
};
"""
WINDOW = {"x86_64": 0xFD000000, "aarch64": 0x0C000000, "armv7": 0x0C000000}


COPY = Span(0x50000000, 0x8000)  # RAM on every board, where nothing is placed


def read(platform: str, directory: Path, copies: dict[str, Span]) -> Partitioning:
    file = directory / "two.dts"
    file.write_text(PARTITION)
    board = load(platform)
    pools = tuple(Span(board.ram_base + 0x1001000 + n * 0x20000, 0x1C000 + n * 0x1000) for n in range(2))
    ram = ((Span(board.ram_base + 0x1200000, 16 << 20),), (Span(board.ram_base + 0x2200000, 8 << 20),))
    tables = Span(board.ram_base + 0x1100000, 0x10000)  # where the board has an IOMMU
    return read_partitioning(file, board, Placed(board.ram_base + 0x1000000, pools, ram, copies, tables))


@pytest.fixture(params=[platform.name for platform in every()])
def partitioning(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Partitioning]:
    return request.param, read(request.param, tmp_path, {"two": COPY})


def rows(one: Policy) -> dict[str, tuple[int, int, str, str, bool]]:
    return {grant.name: (grant.gpa, grant.size, grant.access, grant.memory, grant.shared) for grant in one.grants}


def test_policies(partitioning: tuple[str, Partitioning]) -> None:
    name, found = partitioning
    one, two = found.policies
    window = WINDOW[load(name).arch]
    assert (one.cores, two.cores) == ((1,), (0,))
    assert rows(one)["RAM"][1:] == (16 << 20, "rwx", "ram", False)
    assert rows(one)["statistics"] == (window, 0x1000, "r", "ram", False)
    assert rows(one)["information"] == (window + 0x1000, 0x1000, "r", "ram", False)
    assert rows(one)["log"] == (window + 0x4000, 0x4000, "rw", "ram", False)
    assert rows(one)["log of two"] == (window + 0x10000, 0x4000, "r", "ram", True)
    assert rows(two)["log"] == (window + 0x4000, 0x4000, "rw", "ram", True)
    assert not list(misplaced(found))


def test_devices(partitioning: tuple[str, Partitioning]) -> None:
    name, found = partitioning
    one, two = found.policies
    is_pc = load(name).arch == "x86_64"
    assert one.ports == (frozenset(range(0x2F8, 0x300)) if is_pc else frozenset())
    assert rows(one).get("uart1") == (None if is_pc else (0x9040000, 0x1000, "rw", "device", False))
    assert "uart1" not in rows(two)
    gicv2 = name in ("qemu-aarch64-gicv2", "qemu-armv7")
    assert rows(two).get("GICv2 CPU interface") == ((0x8010000, 0x1000, "rw", "device", True) if gicv2 else None)


def test_what_is_private(partitioning: tuple[str, Partitioning]) -> None:
    _, found = partitioning
    names = {one.name for one in found.private}
    assert names == {
        *("reserved by the board", "kick mailboxes", "boot snapshot of two"),
        *(f"{what} of {one.sandbox}" for one in found.policies for what in ("monitor", "crash record")),
        *(("registers of the IOMMU", "tables of the IOMMU") if found.iommu else ()),
    }


def test_exemptions(partitioning: tuple[str, Partitioning]) -> None:
    _, found = partitioning
    assert [one.exempt for one in found.policies] == [frozenset(), {"memory", "msr"}]


def test_who_has_a_boot_snapshot(partitioning: tuple[str, Partitioning], tmp_path: Path) -> None:
    name, found = partitioning
    assert [one.copy for one in found.policies] == [None, COPY]
    assert list(misplaced(read(name, tmp_path, {}))) == ["two restarts, and there is no boot snapshot of two"]


def test_places_of_boot_snapshots(partitioning: tuple[str, Partitioning], tmp_path: Path) -> None:
    """Each place that is somebody's, and what is said of a copy whose last frame lies there."""
    name, found = partitioning
    ram, log = ({one.name: one.span for one in found.policies[0].grants}[grant] for grant in ("RAM", "log"))
    private = {one.name: one.span for one in found.private}
    owned = {
        "one: RAM lies in what is boot snapshot of two": ram,
        "one: log lies in what is boot snapshot of two": log,
        "lies in what is pool of one": Span(found.policies[0].pool.start + 0x3000, 0x1000),
        "lies in what is monitor of one": private["monitor of one"],
        "lies in what is kick mailboxes": private["kick mailboxes"],
        "lies in what is reserved by the board": private["reserved by the board"],
        "is not in the machine's RAM": Span(1 << 40, 0x1000),
    }
    for complaint, place in owned.items():
        wrong = "\n".join(misplaced(read(name, tmp_path, {"two": Span(place.start - 0x1000, 0x2000)})))
        assert complaint in wrong
    both = "\n".join(misplaced(read(name, tmp_path, {"one": COPY, "two": Span(COPY.end - 0x1000, 0x2000)})))
    assert "lies in what is boot snapshot of two" in both


WITH_IOMMU = """
/ {
	iommu: iommu@9050000 { compatible = "arm,smmu-v3"; reg = <0x0 0x9050000 0x0 0x20000>; #iommu-cells = <1>; };
};
&pci0 {
	iommu-map = <0x0 &iommu 0x0 0x100>;
	card: ethernet@9,0 { compatible = "pci8086,10d3", "pciclass,0200"; reg = <0x4800 0 0 0 0>; };
	quiet: device@a,0 { compatible = "pci8086,10d3", "pciclass,0200"; reg = <0x5000 0 0 0 0>; bulkhead,dma-free = "no engine"; };
};
"""


def test_streams(tmp_path: Path) -> None:
    """Functions that master the bus; what lies in frames of the IOMMU is nobody's, and who has such a function maps its registers."""
    board = tmp_path / "board.dtsi"
    board.write_text(f'#include "{load("qemu-aarch64").board}"\n{WITH_IOMMU}')
    file = tmp_path / "streams.dts"
    file.write_text(PARTITION.replace("<&uart1>", "<&card>, <&quiet>"))
    tables = Span(0x41100000, 0x10000)
    pools = (Span(0x41001000, 0x1C000), Span(0x41021000, 0x1D000))
    placed = Placed(0x41000000, pools, ((Span(0x41200000, 16 << 20),), (Span(0x42200000, 8 << 20),)), {"two": COPY}, tables)
    found = read_partitioning(file, cast(Platform, SimpleNamespace(board=board, arch="aarch64")), placed)
    one, two = found.policies
    assert (one.streams, two.streams) == ((0x48,), ())
    assert found.iommu == Translator("arm,smmu-v3", Span(0x9050000, 0x20000), tables)
    assert {"registers of the IOMMU": Span(0x9050000, 0x20000), "tables of the IOMMU": tables}.items() <= {
        private.name: private.span for private in found.private
    }.items()
    reach = [[grant.name for grant in each.reach if "IOMMU" in grant.name] for each in (one, two)]
    assert reach == [["registers of the IOMMU"], []]
    assert [grant.gpa for grant in one.reach if "queue of events" in grant.name] == [0x9060000]
    assert list(misplaced(found)) == []
    wrong = {
        Span(0x41000000, 0x10000): "tables of the IOMMU 0x41000000..0x4100ffff lie in what is kick mailboxes, 0x41000000..0x41000fff",
        Span(0x41030000, 0x10000): "tables of the IOMMU 0x41030000..0x4103ffff lie in what is pool of two, 0x41021000..0x4103dfff",
        Span(0x41200000, 0x10000): "one: RAM lies in what is tables of the IOMMU, 0x41200000..0x4120ffff",
        Span(0x100000, 0x10000): "tables of the IOMMU 0x100000..0x10ffff are not in the machine's RAM",
    }
    for place, text in wrong.items():
        moved = read_partitioning(file, cast(Platform, SimpleNamespace(board=board, arch="aarch64")), replace(placed, iommu=place))
        assert text in list(misplaced(moved))


CHANNELS = """
&domains {
	samples { compatible = "bulkhead,channel-v1"; from = <&one>; to = <&two>; kind = "ring"; slots = <16>; slot-bytes = <64>; };
	orders { compatible = "bulkhead,channel-v1"; from = <&two>; to = <&one>; };
};
"""
AT = {"samples": 0x1300000, "orders": 0x1303000}  # from where RAM begins, side by side: their frames follow each other


def with_channels(platform: str, directory: Path, moved: dict[str, int]) -> Partitioning:
    file = directory / "channels.dts"
    text = PARTITION.replace("\tdomains {", "\tdomains: domains {").replace('unprotected = "memory", "msr";', "")
    file.write_text(text.replace("16)", "8)") + CHANNELS)
    board = load(platform)
    base = board.ram_base
    pools = tuple(Span(base + 0x1001000 + n * 0x20000, 0x1C000 + n * 0x1000) for n in range(2))
    ram = ((Span(base + 0x1400000, 8 << 20),), (Span(base + 0x2200000, 8 << 20),))
    channels = tuple(base + place for place in (AT | moved).values())
    placed = Placed(base + 0x1000000, pools, ram, {"two": COPY}, Span(base + 0x1100000, 0x10000), channels)
    return read_partitioning(file, board, placed)


@pytest.mark.parametrize("platform", [platform.name for platform in every()])
def test_channels(platform: str, tmp_path: Path) -> None:
    """BH-F6.memory. Each end writes its own area and reads the rest; the monitors of both reach the page between, and their own control."""
    found = with_channels(platform, tmp_path, {})
    one, two = found.policies
    base, first = load(platform).ram_base, WINDOW[load(platform).arch] + 0x100000
    samples, orders = (base + place for place in AT.values())

    def of_channels(policy: Policy) -> list[tuple[int, int, int, str]]:
        return [(grant.gpa, grant.hpa, grant.size, grant.access) for grant in policy.grants if "channel" in grant.name]

    assert of_channels(one) == [
        (first, samples, 0x1000, "rw"),
        (first + 0x1000, samples + 0x1000, 0x1000, "r"),
        (first + 0x2000, samples + 0x2000, 0x1000, "r"),
        (first + 0x3000, orders, 0x2000, "r"),
        (first + 0x5000, orders + 0x2000, 0x1000, "r"),
        (first + 0x6000, orders + 0x3000, 0x2000, "rw"),
    ]
    assert [access for *_, access in of_channels(two)] == ["r", "r", "rw", "rw", "r", "r"]
    for policy, own in ((one, (samples, orders + 0x3000)), (two, (samples + 0x2000, orders))):
        assert [(grant.gpa, grant.hpa, grant.size, grant.access) for grant in policy.reach if "channel" in grant.name] == [
            (samples + 0x1000, samples + 0x1000, 0x1000, "rw"),
            (own[0], own[0], 0x1000, "rw"),
            (orders + 0x2000, orders + 0x2000, 0x1000, "rw"),
            (own[1], own[1], 0x1000, "rw"),
        ]
    assert [(each.name, each.span, each.ends) for each in found.channels] == [
        ("samples", Span(samples, 0x3000), ("one", "two")),
        ("orders", Span(orders, 0x5000), ("two", "one")),
    ]
    assert list(misplaced(found)) == []


REQUESTS = """
&domains {
	aside { compatible = "bulkhead,channel-v1"; from = <&one>; to = <&two>; on-request; };
	vast { compatible = "bulkhead,channel-v1"; from = <&two>; to = <&one>; kind = "ring"; slots = <4>; slot-bytes = <0x80000>; on-request; };
	last { compatible = "bulkhead,channel-v1"; from = <&one>; to = <&two>; kind = "ring"; slots = <4>; slot-bytes = <0x80000>; on-request; };
	more { compatible = "bulkhead,channel-v1"; from = <&one>; to = <&two>; on-request; };
};
"""


def test_channels_on_request_have_stretches_alone(tmp_path: Path) -> None:
    """BH-F6.request. Of 2 MiB, or of 1 GiB; of each all, or nothing, may be reached."""
    board, file = load("qemu-aarch64"), tmp_path / "requests.dts"
    text = PARTITION.replace("\tdomains {", "\tdomains: domains {").replace('unprotected = "memory", "msr";', "")
    file.write_text(text.replace("16)", "8)") + REQUESTS)
    pools = tuple(Span(board.ram_base + 0x1001000 + n * 0x20000, 0x1C000 + n * 0x1000) for n in range(2))
    ram = ((Span(board.ram_base + 0x2000000, 8 << 20),), (Span(board.ram_base + 0x3000000, 8 << 20),))
    places = tuple(board.ram_base + 0x4000000 + n * 0x1000000 for n in range(4))
    placed = Placed(board.ram_base + 0x1000000, pools, ram, {"two": COPY}, Span(board.ram_base + 0x1100000, 0x10000), places)
    for policy in read_partitioning(file, board, placed).policies:
        firsts: dict[str, int] = {}
        for grant in policy.grants:
            if "channel" in grant.name:
                firsts.setdefault(grant.opened, grant.gpa)
        window = WINDOW[board.arch] + 0xA00000
        assert firsts == {"aside": window, "vast": 3 << 36, "last": (3 << 36) + (1 << 30), "more": window + 0x200000}


@pytest.mark.parametrize(
    ("moved", "complaint"),
    [
        ({"orders": AT["samples"] + 0x2000}, "channel orders .* lies in what is channel samples"),
        ({"samples": 0x1003000}, "channel samples .* lies in what is pool of one"),
        ({"samples": 0x1401000}, "one: RAM .* and .* of channel samples .* overlap"),
        ({"samples": 0x1000000 - 0x1000}, "of channel samples lies in what is kick mailboxes"),
        ({"samples": 1 << 40}, "of channel samples .* is not in the machine's RAM"),
    ],
)
def test_places_of_channels(moved: dict[str, int], complaint: str, tmp_path: Path) -> None:
    wrong = "\n".join(misplaced(with_channels("qemu-aarch64", tmp_path, moved)))
    assert re.search(complaint, wrong), wrong
