# SPDX-License-Identifier: Apache-2.0
"""BH-F1.plan. On a board with NUMA nodes, RAM and pools lie in the node of their sandbox's cores while there is room, and `check` names the nodes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.plan import Plan
from bhtool.report.check_json import sandbox_json

Compile = Callable[[Path, str], Plan]
SPLIT = 0x80000000  # the second node's first address
NEAR, FAR = "memory", "far"

FILE = """
#ifdef BOARD_TREE
&cpu0 {{ numa-node-id = <7>; }};
&cpu1 {{ numa-node-id = <7>; }};
&cpu2 {{ numa-node-id = <9>; }};
&cpu3 {{ numa-node-id = <9>; }};
&memory {{ reg = <0x0 0x40000000 0x0 0x40000000>; numa-node-id = <7>; }};
/ {{ far: memory@80000000 {{ device_type = "memory"; reg = <0x0 0x80000000 0x0 0x40000000>; numa-node-id = <9>; }}; }};
#else
#define MiB(n) 0x0 ((n) << 20)
#include BOARD_DTSI
/ {{
	reserved-memory {{
		#address-cells = <2>; #size-cells = <2>; ranges;
		one_ram: one {{ size = <MiB(16)>; }};
		two_ram: two {{ size = <MiB({mib})>; }};
	}};
	domains {{
		compatible = "bulkhead,partitions-v1";
		idle-cores = {idle};
		one: one {{ compatible = "bulkhead,sandbox-v1"; cores = <&cpu0>; memory-region = <&one_ram>; image = "sandbox-kernel.elf"; }};
		two: two {{ compatible = "bulkhead,sandbox-v1"; cores = {cores}; memory-region = <&two_ram>; image = "sandbox-kernel.elf"; }};
	}};
}};
#endif
"""


def compiled(folder: Path, compile_on: Compile, mib: int, cores: tuple[int, ...]) -> Plan:
    named, idle = (", ".join(f"<&cpu{core}>" for core in some) for some in (cores, sorted({1, 2, 3} - set(cores))))
    file = folder / "numa.dts"
    file.write_text(FILE.format(mib=mib, cores=named, idle=idle))
    plan = compile_on(file, "qemu-aarch64")
    assert not plan.errors, "\n".join(map(str, plan.errors))
    return plan


@pytest.mark.parametrize("mib", [16, 1022])  # the larger leaves the node just enough for the pool
def test_ram_lies_where_the_cores_are(tmp_path: Path, compile_on: Compile, mib: int) -> None:
    plan = compiled(tmp_path, compile_on, mib, (2, 3))
    one, two = plan.sandboxes
    assert one.ram_hpa < SPLIT
    assert one.pool_hpa < SPLIT
    assert two.ram_hpa >= SPLIT
    assert two.pool_hpa >= SPLIT
    assert sandbox_json(plan, one)["numa"] == {"cpus": [NEAR], "ram": [NEAR]}
    assert sandbox_json(plan, two)["numa"] == {"cpus": [FAR], "ram": [FAR]}
    assert not plan.warnings


def test_what_does_not_fit_lies_elsewhere_and_that_is_said(tmp_path: Path, compile_on: Compile) -> None:
    """The first node has the monitor image and `one`, so 1,024 MiB lie in the second."""
    plan = compiled(tmp_path, compile_on, 1024, (1,))
    two = plan.sandboxes[1]
    assert two.ram_hpa >= SPLIT
    assert (two.numa_of_cores, two.numa_of_ram) == ([NEAR], [FAR])
    assert [(one.rule, f"RAM of `{FAR}`" in one.text) for one in plan.warnings] == [("BH-W032", True)]


def test_cores_of_two_nodes_are_said(tmp_path: Path, compile_on: Compile) -> None:
    plan = compiled(tmp_path, compile_on, 16, (1, 2))
    assert plan.sandboxes[1].numa_of_cores == [NEAR, FAR]
    assert [one.rule for one in plan.warnings] == ["BH-W032"]
