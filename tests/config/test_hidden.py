# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma. What a device tree says of a device elsewhere than in its node, and each sign of DMA: BH-R040, BH-R043, BH-R049, BH-R056."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.plan import Plan

from tests.config.test_devices import compiled

Compile = Callable[[Path, str], Plan]
SIGNS = (
    "dmas",
    "dma-names",
    "#dma-cells",
    "dma-channels",
    "dma-coherent",
    "dma-noncoherent",
    "dma-ranges",
    "iommus",
    "iommu-map",
    "memory-region",
    "msi-parent",
    "msi-map",
)
SECOND = 'second: serial@9070000 { compatible = "arm,pl011"; reg = <0x0 0x9070000 0x0 0x1000>; };'
EXPANDER = "expander: gpio { interrupt-controller; #interrupt-cells = <3>; #address-cells = <0>; #clock-cells = <0>; };"
UART = 'compatible = "arm,pl011"; reg = <0x0 0x90a0000 0x0 0x1000>; interrupts = <0 20 4>;'
PCI = '/* BOARD_IOMMU BH_IOMMU_NONE 0x0 0x0 */ &pci0 { first: device@6,0 { compatible = COMPATIBLE; reg = <0x3000 0 0 0 0>; }; second: device@9,0 { compatible = "pci1b36,5", "pciclass,00ff"; reg = <0x4800 0 0 0 0>; }; };'


def found(compile_on: Compile, folder: Path, inside: str, on_bus: str = "", platform: str = "qemu-aarch64") -> list[tuple[str, str]]:
    bus = f'bus {{ compatible = "simple-bus"; #address-cells = <2>; #size-cells = <2>; ranges; {on_bus} first: serial@90a0000 {{ {UART} {inside} }}; }};'
    return judged(compile_on, folder, f"/ {{ {EXPANDER} {bus} {SECOND} }};\n")


def judged(compile_on: Compile, folder: Path, board: str) -> list[tuple[str, str]]:
    return [(one.rule, one.text) for one in compiled(compile_on, folder, "qemu-aarch64", board).errors]


def test_a_bus_of_nothing_special_is_good(compile_on: Compile, tmp_path: Path) -> None:
    assert found(compile_on, tmp_path, "part { };", "dma-ranges;") == []


@pytest.mark.parametrize("sign", SIGNS)
def test_each_sign_of_dma_counts(sign: str, compile_on: Compile, tmp_path: Path) -> None:
    """In the device, in a part of it and on its bus, where `dma-ranges` says nothing of it."""
    one = "#address-cells = <2>; #size-cells = <2>; dma-ranges;" if sign == "dma-ranges" else f"{sign} = <0>;"
    [(rule, text)] = found(compile_on, tmp_path, one)
    assert rule == "BH-R049"
    assert f"first of `two` has `{sign}`" in text
    [(rule, text)] = found(compile_on, tmp_path, f"#address-cells = <2>; #size-cells = <2>; engine {{ {one} }};")
    assert rule == "BH-R049"
    assert f"first of `two` has in `engine` `{sign}`" in text
    if sign != "dma-ranges":
        [(rule, text)] = found(compile_on, tmp_path, "", one)
        assert rule == "BH-R049"
        assert f"first of `two` is on `bus`, which has `{sign}`" in text


@pytest.mark.parametrize("name", ["resets", "power-domains", "pinctrl-0", "assigned-clocks", "clocks"])
def test_what_is_common_counts(name: str, compile_on: Compile, tmp_path: Path) -> None:
    for inside, on_bus in ((f"{name} = <&expander>;", ""), (f"part {{ {name} = <&expander>; }};", ""), ("", f"{name} = <&expander>;")):
        [(rule, text)] = found(compile_on, tmp_path, inside, on_bus)
        assert rule == "BH-R056"
        assert f"first of `two` depends by `{name}` on expander, which no sandbox can have" in text


@pytest.mark.parametrize(("inside", "on_bus"), [("interrupt-parent = <&expander>;", ""), ("", "interrupt-parent = <&expander>;")])
def test_another_interrupt_controller_is_common(inside: str, on_bus: str, compile_on: Compile, tmp_path: Path) -> None:
    [(rule, text)] = found(compile_on, tmp_path, inside, on_bus)
    assert rule == "BH-R056"
    assert "interrupts through another controller than the main one (`interrupt-parent`)" in text


def test_a_bus_that_is_disabled_has_no_devices(compile_on: Compile, tmp_path: Path) -> None:
    [(rule, text)] = found(compile_on, tmp_path, "", 'status = "disabled";')
    assert rule == "BH-R040"
    assert "`first` is disabled" in text


def test_lines_of_any_form_are_lines(compile_on: Compile, tmp_path: Path) -> None:
    """A line of somebody else, written after one of another controller."""
    other = 'other: serial@9080000 { compatible = "arm,pl011"; reg = <0x0 0x9080000 0x0 0x1000>; interrupts-extended = <&expander 1 2 3>, <&gic 0 20 4>; };'
    rules = [rule for rule, _ in found(compile_on, tmp_path, "", f"{other}")]
    assert rules == ["BH-R043"]
    [(rule, text)] = found(compile_on, tmp_path, "interrupts-extended = <&gic 0 20 4>;")
    assert rule == "BH-R056"
    assert "interrupts through another controller than the main one (`interrupts-extended`)" in text


@pytest.mark.parametrize(
    ("compatible", "why"),
    [
        ('"ns16550a", "pci8086,1533", "pciclass,0700"', '"pci8086,1533" is not listed'),
        ('"pci1b36,2"', 'has no "pciclass,CCSS"'),
        ('"pci1b36,2", "pciclass,0700"', ""),
    ],
)
def test_a_function_goes_by_its_identity(compatible: str, why: str, compile_on: Compile, tmp_path: Path) -> None:
    rules = judged(compile_on, tmp_path, PCI.replace("COMPATIBLE", compatible) + "\n")
    assert [rule for rule, _ in rules] == ["BH-R049"] * bool(why)
    assert all(why in text for _, text in rules)
