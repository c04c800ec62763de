# SPDX-License-Identifier: Apache-2.0
"""BH-F1.plan, BH-I1.device. Level-triggered lines of a PC: whose vectors are whose, what Linux is told of them, and a PCI UART that is its console."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool import abi
from bhtool.config.plan import Plan

Compile = Callable[[Path, str], Plan]
Refuse = Callable[[str, bytes], str]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
CHANGES = "&two { access = <&pciedu0>; };\n&linux { access = <&uart1>, <&pciuart0>; console = <&pciuart0>; };\n"
EDU_PIN, CARD_PIN = 23, 22
LEVEL, LOW, MASKED = abi.lib.BH_LINE_LEVEL, abi.lib.BH_LINE_ACTIVE_LOW, abi.lib.BH_LINE_MASKED


@pytest.fixture
def plan(compile_on: Compile, tmp_path: Path) -> Plan:
    (tmp_path / "level.dts").write_text(f'#include "{GOOD}"\n{CHANGES}')
    made = compile_on(tmp_path / "level.dts", "qemu-svm")
    assert made.valid, made.errors
    return made


def piece(plan: Plan, name: str) -> bytes:
    return next(one.data for one in plan.segments if one.name == f"linux: {name}")


def test_native_and_linux_have_vectors_of_their_own(plan: Plan, monitor_refuses: Refuse) -> None:
    table = abi.view("bh_table", plan.table)
    rows = {row.line: (row.sandbox, row.vector, row.flags) for row in table.lines[0 : table.line_count]}
    assert rows[EDU_PIN] == (1, abi.lib.BH_FIRST_LEVEL_VECTOR, LEVEL | LOW)
    assert rows[CARD_PIN] == (2, 0x30 + CARD_PIN, LEVEL | LOW | MASKED)
    assert monitor_refuses("qemu-svm", plan.table) == ""


def test_linux_sees_its_lines_as_the_first_pins(plan: Plan) -> None:
    """_PRT: device 2, INTA; edge line of uart1 first, at pin 1; Linux would not take pin 2. ACPI 6.3, 6.2.13 "_PRT (PCI Routing Table)", 20.2 "AML Grammar"."""
    assert [line.line for line in next(one for one in plan.sandboxes if one.name == "linux").lines] == [3, CARD_PIN]
    row = b"\x0c" + struct.pack("<I", 0x0002FFFF) + b"\x00\x00" + b"\x0a\x03"
    assert row in piece(plan, "ACPI DSDT")


def test_linux_without_protection_sees_the_machine_s_pins(compile_on: Compile, tmp_path: Path) -> None:
    (tmp_path / "open.dts").write_text(f'#include "{GOOD}"\n{CHANGES}&linux {{ unprotected = "irq"; }};\n')
    made = compile_on(tmp_path / "open.dts", "qemu-svm")
    assert b"\x0c" + struct.pack("<I", 0x0002FFFF) + b"\x00\x00\x0a" + bytes([CARD_PIN]) in piece(made, "ACPI DSDT")


def test_the_card_is_the_console(plan: Plan) -> None:
    assert piece(plan, "command line").startswith(b"console=uart8250,io,0xd000,115200n8 8250.nr_uarts=2 ")


@pytest.mark.parametrize(("platform", "changes"), [("qemu-svm", "&two { access = <&pciuart0>; console = <&pciuart0>; };\n"),
                                                   ("qemu-aarch64", CHANGES)])  # fmt: skip
def test_a_card_is_nobody_else_s_console(compile_on: Compile, tmp_path: Path, platform: str, changes: str) -> None:
    (tmp_path / "card.dts").write_text(f'#include "{GOOD}"\n{changes}')
    assert [one.rule for one in compile_on(tmp_path / "card.dts", platform).errors] == ["BH-R051"]
