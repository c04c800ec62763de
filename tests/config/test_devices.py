# SPDX-License-Identifier: Apache-2.0
"""Devices from the board tree to the partition table: what one sandbox may have together, and what is known of their DMA (BH-I1.dma)."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bhtool import abi
from bhtool.config import check_devices, form
from bhtool.config.dma import REASON
from bhtool.config.machine import UARTS
from bhtool.config.plan import DmaFree, Plan
from bhtool.paths import ROOT

Compile = Callable[[Path, str], Plan]
Monitor = Callable[[str, bytes], str]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
PAGE = """
/ {
	first: serial@90a0000 { compatible = "arm,pl011"; reg = <0x0 0x90a0000 0x0 0x1800>; interrupts = <0 20 4>; };
	second: serial@90a1800 { compatible = "arm,pl011"; reg = <0x0 0x90a1800 0x0 0x100>; interrupts = <0 20 4>; };
};
"""
PORTS = """
/ { isa {
	first: serial@i3e0 { compatible = "ns16550a"; reg = <1 0x3e0 8>; interrupts = <10 0>; };
	second: serial@i3e4 { compatible = "ns16550a"; reg = <1 0x3e4 8>; interrupts = <10 0>; };
}; };
"""
LAYOUT = """
/ {
	first: serial@90a0000 { compatible = "snps,dw-apb-uart"; reg = <0x0 0x90a0000 0x0 0x1000>; interrupts = <0 20 4>; reg-shift = <2>; reg-io-width = <4>; };
	second: serial@90a1000 { compatible = "brcm,bcm2835-aux-uart"; reg = <0x0 0x90a1000 0x0 0x40>; interrupts = <0 21 1>; };
};
"""
SPECIFIC = """
/ {
	first: serial@90a0000 { compatible = "acme,uart", "snps,dw-apb-uart", "ns16550a"; reg = <0x0 0x90a0000 0x0 0x1000>; interrupts = <0 20 4>;
		bulkhead,dma-free = "no engine"; };
	second: timer@90a1000 { compatible = "acme,timer", "arm,sp804"; reg = <0x0 0x90a1000 0x0 0x1000>; bulkhead,dma-free = "no engine"; };
};
"""
FOREIGN = """
/ {
	first: ethernet@90a0000 { compatible = "acme,gmac"; reg = <0x0 0x90a0000 0x0 0x1000>; };
	second: serial@90a1000 { compatible = "arm,pl011"; reg = <0x0 0x90a1000 0x0 0x1000>; };
};
"""
JUDGED = FOREIGN.replace('"acme,gmac";', '"acme,gmac"; bulkhead,dma-free = "no engine";')
FOREIGN_PORTS = PORTS.replace('first: serial@i3e0 { compatible = "ns16550a"', 'first: serial@i3e0 { compatible = "acme,fast"')
FOREIGN_CARD = """
&pci0 {
	first: device@a,0 { compatible = "pci8086,1533"; reg = <0x5000 0 0 0 0>; };
	second: device@b,0 { compatible = "pci1b36,5", "pciclass,00ff"; reg = <0x5800 0 0 0 0>; };
};
"""


@pytest.mark.parametrize(
    ("value", "is_good"), [(["no engine"], True), (["one", "two"], False), ([" "], False), ([[1]], False), (True, False)]
)
def test_editors_know_the_boards_word(value: object, is_good: bool) -> None:
    """A schema of its own, as the node is of somebody else's binding; the checker judges alike (BH-R003)."""
    node = {"$nodename": ["timer@0"], "compatible": ["acme,timer"], REASON: value}
    found = list(form._validator().iter_errors(node, filter=[form.OURS]))
    assert (not found) == is_good, found


def compiled(compile_on: Compile, folder: Path, platform: str, board: str, more: str = "") -> Plan:
    file = folder / "f.dts"
    file.write_text(f'#ifdef BOARD_TREE\n{board}#else\n#include "{GOOD}"\n&two {{ access = <&first>, <&second>; {more} }};\n#endif\n')
    return compile_on(file, platform)


def device_grants(plan: Plan) -> list[Any]:
    """Of the second sandbox's information page."""
    info = abi.view("bh_info", next(one.data for one in plan.segments if one.hpa == plan.sandboxes[1].pool_hpa + abi.lib.BH_POOL_INFO))
    return [row for row in info.grants if row.kind == abi.lib.BH_GRANT_DEVICE]


def test_devices_of_one_sandbox_share_a_page_and_a_line(compile_on: Compile, tmp_path: Path, monitor_refuses: Monitor) -> None:
    """What BH-R042 and BH-R043 tell to do."""
    plan = compiled(compile_on, tmp_path, "qemu-aarch64", PAGE)
    assert plan.valid, plan.errors
    two = plan.sandboxes[1]
    regions = [(one.name, one.hpa, one.size) for one in two.regions if one.kind == "device"]
    assert regions == [("first and second", 0x90A0000, 0x2000)]
    assert [(one.name, one.line) for one in two.lines] == [("first and second", 52)]
    assert monitor_refuses("qemu-aarch64", plan.table) == ""


def test_devices_of_one_sandbox_share_ports(compile_on: Compile, tmp_path: Path, monitor_refuses: Monitor) -> None:
    """What BH-R044 tells to do."""
    plan = compiled(compile_on, tmp_path, "qemu-svm", PORTS)
    assert plan.valid, plan.errors
    assert [(one.name, one.first, one.count) for one in plan.sandboxes[1].ports] == [("first and second", 0x3E0, 12)]
    assert monitor_refuses("qemu-svm", plan.table) == ""


def test_known_devices_are_marked(compile_on: Compile, tmp_path: Path, monitor_refuses: Monitor) -> None:
    plan = compiled(compile_on, tmp_path, "qemu-aarch64", JUDGED)
    assert plan.valid, plan.errors
    assert plan.sandboxes[1].devices["first"] == DmaFree("board tree", "no engine")
    assert plan.sandboxes[1].devices["second"].source == "arm,pl011"
    table = abi.view("bh_table", plan.table)
    marks = {(row.kind, row.dma) for row in list(table.regions)[: table.region_count]}
    devices = {abi.lib.BH_REGION_DEVICE, abi.lib.BH_REGION_BAR}
    assert marks == {(kind, abi.lib.BH_DMA_FREE if kind in devices else abi.lib.BH_DMA_UNKNOWN) for kind, _ in marks}
    assert monitor_refuses("qemu-aarch64", plan.table) == ""


@pytest.mark.parametrize(
    ("platform", "board", "what"),
    [("qemu-aarch64", FOREIGN, "device registers"), ("qemu-svm", FOREIGN_PORTS, "I/O ports"), ("qemu-svm", FOREIGN_CARD, "a PCI function")],
)
def test_what_is_granted_unjudged_does_not_boot(
    compile_on: Compile, tmp_path: Path, monitor_refuses: Monitor, monkeypatch: pytest.MonkeyPatch, platform: str, board: str, what: str
) -> None:
    """A tool without its rule."""
    assert [one.rule for one in compiled(compile_on, tmp_path, platform, board).errors] == ["BH-R049"]
    monkeypatch.setattr(check_devices, "judge_dma", lambda _: DmaFree("nobody", ""))
    plan = compiled(compile_on, tmp_path, platform, board)
    assert plan.valid, plan.errors
    words = "is not known to be free of DMA, and that no IOMMU translates" if what.startswith("a ") else "are not known to be free of DMA"
    assert monitor_refuses(platform, plan.table) == f"a sandbox is given {what} that {words}"


SUPPLIED = """
/ {
	first: clock-controller@90a0000 { compatible = "acme,clock"; bulkhead,dma-free = "no engine"; reg = <0x0 0x90a0000 0x0 0x1000>; #clock-cells = <1>; };
	second: serial@90a1000 { compatible = "arm,pl011"; reg = <0x0 0x90a1000 0x0 0x1000>; clocks = <&first 2>, <&apb_clock>; vcc-supply = <&fixed>; };
	fixed: supply { compatible = "regulator-fixed"; };
};
&cpu1 { clocks = <&first 1>; };
"""


def test_a_sandbox_has_what_its_devices_depend_on(compile_on: Compile, tmp_path: Path) -> None:
    """What BH-R056 and BH-R114 tell to do."""
    plan = compiled(compile_on, tmp_path, "qemu-aarch64", SUPPLIED)
    assert (plan.errors, plan.warnings) == ([], [])
    assert set(plan.sandboxes[1].devices) == {"first", "second"}


@pytest.mark.evidence("BH-F5.board")
def test_grants_say_how_registers_lie(compile_on: Compile, tmp_path: Path) -> None:
    """As the node says, or as the binding fixes it. Other devices' flags are what they were."""
    plan = compiled(compile_on, tmp_path, "qemu-aarch64", LAYOUT)
    assert plan.valid, plan.errors
    rows = {abi.text(row.name): row.flags for row in device_grants(plan)}
    layout = 2 << abi.lib.BH_GRANT_REG_SHIFT | 4 << abi.lib.BH_GRANT_REG_WIDTH
    assert rows == {"first": 1 | layout, "second": layout}


@pytest.mark.evidence("BH-F5.board")
def test_drivers_go_by_the_most_specific_name_that_they_know(compile_on: Compile, tmp_path: Path) -> None:
    """So the console that `check` takes for a UART is one that the sandbox kernel finds."""
    plan = compiled(compile_on, tmp_path, "qemu-aarch64", SPECIFIC, "console = <&first>;")
    assert plan.valid, plan.errors
    assert {abi.text(row.name): abi.text(row.compatible) for row in device_grants(plan)} == {
        "first": "snps,dw-apb-uart",
        "second": "acme,timer",
    }


def test_dma_is_judged_by_the_first_name_alone(compile_on: Compile, tmp_path: Path) -> None:
    """Whatever an older driver could use it as."""
    board = SPECIFIC.replace('bulkhead,dma-free = "no engine";', "")
    assert [one.rule for one in compiled(compile_on, tmp_path, "qemu-aarch64", board).errors] == ["BH-R049"] * 2


@pytest.mark.evidence("BH-F5.board")
def test_the_sandbox_kernel_knows_what_the_tool_takes_for_a_uart() -> None:
    lists = [re.findall(r"const names\[\] = \{(.*?)NULL \}", path.read_text()) for path in (ROOT / "kernel" / "drivers").glob("*.c")]
    in_memory = {name for found in lists for one in found for name in re.findall(r'"([^"]+)"', one)}
    assert in_memory == set(UARTS)


def test_a_line_is_not_shared_with_a_function_of_nobody(compile_on: Compile, tmp_path: Path, monitor_refuses: Monitor) -> None:
    """BH-I1.device. nic1, on the same line, is nobody's; if it belongs to another sandbox, BH-R043 refuses."""
    file = tmp_path / "f.dts"
    file.write_text(f'#include "{GOOD}"\n&two {{ access = <&pciedu0>; }};\n')
    plan = compile_on(file, "qemu-aarch64")
    assert plan.valid, plan.errors
    assert [(one.name, one.line) for one in plan.sandboxes[1].lines] == [("pciedu0", 38)]
    assert monitor_refuses("qemu-aarch64", plan.table) == ""
