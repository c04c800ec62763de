# SPDX-License-Identifier: Apache-2.0
"""BH-F1.rest. Sentences for crash records, and what `takes-the-rest` comes to."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.explain import explain
from bhtool.config.plan import Plan
from bhtool.paths import PARTITIONS

Compile = Callable[[Path, str], Plan]
MIXED = PARTITIONS / "mixed.dts"
CONTROL, SENSOR, LINUX = 0, 1, 2


def line_of(text: str, nth: int = 0) -> int:
    """Number of the nth line of mixed.dts that holds text."""
    return [number for number, line in enumerate(MIXED.read_text().splitlines(), 1) if text in line][nth]


@pytest.fixture
def plan(compile_on: Compile) -> Plan:
    return compile_on(MIXED, "qemu-aarch64")


def test_device_of_another(plan: Plan) -> None:
    said = explain(plan, SENSOR, "memory", 0x09000018)
    assert "0x9000018 is uart0, `linux`'s (" in said
    assert f"mixed.dts:{line_of('linux: linux')}" in said
    assert f"`access` of `sensor` (dts/partitions/mixed.dts:{line_of('access = <&uart1>')}) does not grant it" in said


def test_device_without_access(plan: Plan) -> None:
    said = explain(plan, CONTROL, "memory", 0x09040000)
    assert "0x9040000 is uart1, `sensor`'s (" in said
    assert f"mixed.dts:{line_of('control: control {')}) has no `access` to it" in said


def test_memory_of_another_and_of_the_monitor(compile_on: Compile, tmp_path: Path) -> None:
    """Above 16 MiB a sandbox of 2 MiB has no guest-physical addresses itself."""
    text = MIXED.read_text().replace("control_ram: control { size = <MiB(16)>; };", "control_ram: control { size = <MiB(2)>; };")
    (tmp_path / "small.dts").write_text("#define LOW_RESERVED 0x01000000\n" + text)
    plan = compile_on(tmp_path / "small.dts", "qemu-aarch64")
    linux = plan.sandboxes[LINUX]
    assert "is RAM, `linux`'s" in explain(plan, CONTROL, "memory", linux.ram_hpa + 0x1000)
    assert "is monitor of `linux`, the monitor's" in explain(plan, CONTROL, "memory", linux.pool_hpa + 0x8000)
    assert "interrupt controller gic, the monitor's" in explain(plan, SENSOR, "memory", 0x080A0000)


def test_own_memory_wrongly(plan: Plan) -> None:
    assert explain(plan, SENSOR, "memory", 0x0C001000) == "0xc001000 is `sensor`'s own info, which it may access as r only"


def test_what_was_closed(compile_on: Compile) -> None:
    plan = compile_on(Path("tests/emulated/requests.dts"), "qemu-aarch64")
    always, aside = (next(one.gpa for one in plan.sandboxes[0].regions if f"`{name}`" in one.name) for name in ("always", "aside"))
    assert explain(plan, 0, "memory", aside).endswith("channel `aside`, which it may access as rw only, while it has that open")
    assert explain(plan, 0, "memory", always).endswith("channel `always`, which it may access as rw only")


def test_nothing_there(plan: Plan) -> None:
    assert "is nothing on this machine" in explain(plan, SENSOR, "memory", 0x0D000000)


def test_ports_and_registers(compile_on: Compile) -> None:
    plan = compile_on(MIXED, "qemu-svm")
    assert "I/O port 0x3f8 is uart0, `linux`'s" in explain(plan, SENSOR, "port", 0x3F8)
    assert "I/O port 0xcf8 is nothing on this machine" in explain(plan, SENSOR, "port", 0xCF8)
    assert explain(plan, SENSOR, "register", 0xC0000080) == "register 0xc0000080 is not one that a sandbox can have"


def test_the_rest(plan: Plan) -> None:
    assert plan.sandboxes[LINUX].rest == ["uart0"]


def test_the_rest_of_everything(compile_on: Compile, tmp_path: Path) -> None:
    """Without `cores` and `memory-region` the taker gets the free core and the largest free stretch."""
    text = MIXED.read_text().replace("\t\t\tcores = <&cpu0>;\n", "").replace("\t\t\tmemory-region = <&linux_ram>;\n", "")
    text = text.replace("idle-cores = <&cpu3>;", "idle-cores = <&cpu0>;").replace("\t\tlinux_ram: linux { size = <MiB(512)>; };\n", "")
    (tmp_path / "rest.dts").write_text(text)
    for platform, megabytes in (("qemu-aarch64", 2014), ("qemu-svm", 1996)):
        plan = compile_on(tmp_path / "rest.dts", platform)
        linux = plan.sandboxes[LINUX]
        assert plan.errors == []
        assert linux.cores == [3]
        assert linux.rest == ["cpu3", "uart0", f"{linux.ram_size >> 20} MiB"]
        assert linux.ram_size >> 20 == megabytes
