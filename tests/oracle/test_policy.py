# SPDX-License-Identifier: Apache-2.0
"""What the oracle reads out of a partition file."""

from pathlib import Path

import pytest
from bhtool.oracle.policy import Partitioning, Policy, misplaced, read_partitioning
from bhtool.platforms import every, load

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
			console = "log"; unprotected = "memory", "msr";
		};
	};
};
"""
WINDOW = {"x86_64": 0xFD000000, "aarch64": 0x0C000000, "armv7": 0x0C000000}


@pytest.fixture(params=[platform.name for platform in every()])
def partitioning(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Partitioning]:
    file = tmp_path / "two.dts"
    file.write_text(PARTITION)
    return request.param, read_partitioning(file, load(request.param).board)


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
    assert rows(two).get("GICv2 CPU interface") == ((0x8010000, 0x2000, "rw", "device", True) if gicv2 else None)


def test_what_is_private(partitioning: tuple[str, Partitioning]) -> None:
    _, found = partitioning
    names = {one.name for one in found.private}
    assert names == {
        *("reserved by the board", "kick boxes"),
        *(f"{what} of {one.sandbox}" for one in found.policies for what in ("monitor", "crash record")),
    }


def test_exemptions(partitioning: tuple[str, Partitioning]) -> None:
    _, found = partitioning
    assert [one.exempt for one in found.policies] == [frozenset(), {"memory", "msr"}]
