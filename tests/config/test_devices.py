# SPDX-License-Identifier: Apache-2.0
"""Devices from the board tree to the partition table: what one sandbox may have together."""

from collections.abc import Callable
from pathlib import Path

from bhtool.config import Plan

Compile = Callable[[Path, str], Plan]
Monitor = Callable[[str, bytes], str]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
PAGE = """
/ {
	first: serial@9060000 { compatible = "arm,pl011"; reg = <0x0 0x9060000 0x0 0x1800>; interrupts = <0 20 4>; };
	second: serial@9061800 { compatible = "arm,pl011"; reg = <0x0 0x9061800 0x0 0x100>; interrupts = <0 20 4>; };
};
"""
PORTS = """
/ { isa {
	first: serial@i3e0 { compatible = "ns16550a"; reg = <1 0x3e0 8>; interrupts = <10 0>; };
	second: serial@i3e4 { compatible = "ns16550a"; reg = <1 0x3e4 8>; interrupts = <10 0>; };
}; };
"""


def compiled(compile_on: Compile, folder: Path, platform: str, board: str) -> Plan:
    file = folder / "f.dts"
    file.write_text(f'#ifdef BOARD_TREE\n{board}#else\n#include "{GOOD}"\n&two {{ access = <&first>, <&second>; }};\n#endif\n')
    return compile_on(file, platform)


def test_devices_of_one_sandbox_share_a_page_and_a_line(compile_on: Compile, tmp_path: Path, monitor_refuses: Monitor) -> None:
    """What BH-R042 and BH-R043 tell to do."""
    plan = compiled(compile_on, tmp_path, "qemu-aarch64", PAGE)
    assert plan.valid, plan.errors
    two = plan.sandboxes[1]
    regions = [(one.name, one.hpa, one.size) for one in two.regions if one.kind == "device"]
    assert regions == [("first and second", 0x9060000, 0x2000)]
    assert [(one.name, one.line) for one in two.lines] == [("first and second", 52)]
    assert monitor_refuses("qemu-aarch64", plan.table) == ""


def test_devices_of_one_sandbox_share_ports(compile_on: Compile, tmp_path: Path, monitor_refuses: Monitor) -> None:
    """What BH-R044 tells to do."""
    plan = compiled(compile_on, tmp_path, "qemu-svm", PORTS)
    assert plan.valid, plan.errors
    assert [(one.name, one.first, one.count) for one in plan.sandboxes[1].ports] == [("first and second", 0x3E0, 12)]
    assert monitor_refuses("qemu-svm", plan.table) == ""
