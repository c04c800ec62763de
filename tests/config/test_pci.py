# SPDX-License-Identifier: Apache-2.0
"""BH-F1.handed, BH-I1.device. PCI functions from the board tree to the partition table, the information page and a kernel's device tree."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool import abi
from bhtool.config.plan import Plan
from bhtool.config.tree import read_blob

Compile = Callable[[Path, str], Plan]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
ARM = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7")
# A serial card with one base address in port space, and a device with 1 MiB of memory.
SERIAL_ID, EDU_ID = 0x10, 0x18
PLACES = {
    **dict.fromkeys(ARM, (0x1001, 0x2E000000, 37, 0)),
    "qemu-svm": (0xD001, 0xC0000000, 22, 0xF0),
}  # base addresses, line and vector of the card


def written(path: Path, changes: str) -> Path:
    path.write_text(f'#include "{GOOD}"\n{changes}')
    return path


@pytest.mark.parametrize("platform", PLACES)
def test_table_rows(compile_on: Compile, tmp_path: Path, monitor_refuses: Callable[[str, bytes], str], platform: str) -> None:
    plan = compile_on(written(tmp_path / "f.dts", "&two { access = <&pciuart0>, <&pciedu0>; };\n"), platform)
    assert plan.valid, plan.errors
    table = abi.view("bh_table", plan.table)
    serial, edu = table.pci_functions[0], table.pci_functions[1]
    port, memory, line, vector = PLACES[platform]
    assert (table.pci_function_count, serial.sandbox, serial.id, serial.identity) == (2, 1, SERIAL_ID, 0x00021B36)
    assert (list(serial.bar), list(serial.bar_mask)) == ([port, 0, 0, 0, 0, 0], [0xFFFFFFF9, 0, 0, 0, 0, 0])
    assert (edu.id, edu.identity, edu.bar[0], edu.bar_mask[0]) == (EDU_ID, 0x11E81234, memory, 0xFFF00000)
    assert next((one.line, one.vector) for one in plan.sandboxes[1].lines) == (line, vector)
    assert monitor_refuses(platform, plan.table) == ""


def test_buses_as_the_sandbox_sees_them(compile_on: Compile, tmp_path: Path) -> None:
    two = compile_on(written(tmp_path / "f.dts", "&two { access = <&pciuart0>; };\n"), "qemu-aarch64").sandboxes[1]
    pages = {one.gpa: one.hpa for one in two.configuration}
    own, absent = 0x3F000000 + (SERIAL_ID << 12), two.pool_hpa + abi.lib.BH_POOL_ABSENT
    assert sorted(pages) == list(range(0x3F000000, 0x3F100000, 0x1000))
    assert {gpa: hpa for gpa, hpa in pages.items() if hpa != absent} == {own: own}
    assert {one.permissions for one in two.configuration} == {"r"}


def test_who_takes_the_rest_takes_no_function(compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path / "f.dts", "&two { takes-the-rest; };\n"), "qemu-aarch64")
    assert not plan.sandboxes[1].functions
    assert not plan.sandboxes[1].configuration


def test_buses_that_do_not_exist(compile_on: Compile, tmp_path: Path) -> None:
    """dtc warns of it, too, where the board tree describes the host."""
    far = '&pci0 { far: device@6,0 { compatible = "pci1b36,5", "pciclass,00ff"; reg = <0x13000 0 0 0 0>; }; };'
    file = tmp_path / "f.dts"
    file.write_text(f'#ifdef BOARD_TREE\n{far}\n#else\n#include "{GOOD}"\n#endif\n')
    plan = compile_on(file, "qemu-aarch64")
    assert [(one.rule, one.line) for one in plan.errors] == [("BH-R100", 2)]


@pytest.mark.parametrize("platform", ARM)
def test_kernel_is_shown_the_host(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    plan = compile_on(written(tmp_path / "f.dts", "&linux { access = <&uart1>, <&pciuart0>; };\n"), platform)
    linux = plan.sandboxes[2]
    blob = next(one.data for one in plan.segments if one.hpa == linux.arg - linux.ram_gpa + linux.ram_hpa)
    tree = read_blob(blob)
    host, chosen = tree.find("/pcie@3f000000"), tree.find("/chosen")
    assert host is not None
    assert chosen is not None
    assert host.reg() == [(0x3F000000, 0x100000)]
    assert host.children == {}
    assert chosen.number("linux,pci-probe-only", 0) == 1
