# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma, BH-I7.tool. DMA on a machine without an IOMMU: asked for by a partition file, granted to one sandbox, marked in the table, and told to its driver."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bhtool import abi
from bhtool.config.plan import Plan, Unprotected
from bhtool.config.table import checksum

Compile = Callable[[Path, str], Plan]
Monitor = Callable[[str, bytes], str]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
BOCHS, AARCH64 = "bochs-vtx", "qemu-aarch64"
GRANT = '&two { access = <&card>; allow-unprotected-dma = "a driver of ours, on a machine without an IOMMU"; };'
NO_IOMMU = {BOCHS: "", AARCH64: "/* BOARD_IOMMU BH_IOMMU_NONE 0x0 0x0 */"}
MEMORY = {BOCHS: 0xC0200000, AARCH64: 0x20000000}


def written(folder: Path, changes: str, platform: str = BOCHS, card: str = '"pci8086,100e", "pciclass,0200"') -> Path:
    file = folder / "f.dts"
    file.write_text(f"""{NO_IOMMU[platform]}
#ifdef BOARD_TREE
&pci0 {{
	card: ethernet@5,0 {{
		compatible = {card};
		reg = <0x2800 0 0 0 0>;
		assigned-addresses = <0x82002810 0x0 {MEMORY[platform]:#x} 0x0 0x20000>, <0x81002814 0x0 0xd000 0x0 0x40>;
	}};
}};
#else
#include "{GOOD}"
{changes}
#endif
""")
    return file


def resealed(table: Any) -> bytes:
    table.checksum = checksum(abi.bytes_of(table))
    return abi.bytes_of(table)


def broken(plan: Plan) -> list[str]:
    return [one.rule for one in plan.errors]


def test_a_function_that_masters_is_granted_for_a_reason(compile_on: Compile, tmp_path: Path, monitor_refuses: Monitor) -> None:
    """Its registers and ports as well; start-up takes the table, and the checker warns."""
    plan = compile_on(written(tmp_path, GRANT), BOCHS)
    assert plan.errors == []
    assert [one.rule for one in plan.warnings] == ["BH-W094"]
    table = abi.view("bh_table", plan.table)
    marks = {
        table.pci_functions[0].dma,
        *(one.dma for one in list(table.regions)[: table.region_count] if one.kind == abi.lib.BH_REGION_BAR),
    }
    assert marks == {abi.lib.BH_DMA_UNPROTECTED}
    assert abi.lib.BH_DMA_UNPROTECTED in {one.dma for one in list(table.ports)[: table.port_count]}
    assert monitor_refuses(BOCHS, plan.table) == ""
    assert plan.sandboxes[1].devices["card"] == Unprotected("partition file", "a driver of ours, on a machine without an IOMMU")
    assert not plan.sandboxes[1].masters  # there is no second root


def test_without_asking_it_stays_refused(compile_on: Compile, tmp_path: Path) -> None:
    assert broken(compile_on(written(tmp_path, "&two { access = <&card>; };"), BOCHS)) == ["BH-R103"]
    bridge = written(tmp_path, GRANT, card='"pci8086,1237", "pciclass,0604"')
    assert "BH-R103" in broken(compile_on(bridge, BOCHS))
    assert broken(compile_on(written(tmp_path, GRANT, card='"pci8086,100e"'), BOCHS)) == ["BH-R049"]  # of no class: it may be a bridge


def test_start_up_knows_a_machine_with_an_iommu(compile_on: Compile, tmp_path: Path, monitor_refuses: Monitor) -> None:
    """A table that somebody else has made: there nothing goes past the IOMMU, and without one nothing is translated."""
    plan = compile_on(written(tmp_path, GRANT), BOCHS)
    row = abi.view("bh_table", plan.table)
    row.pci_functions[0].dma = abi.lib.BH_DMA_TRANSLATED
    assert "no IOMMU translates" in monitor_refuses(BOCHS, resealed(row))
    behind = tmp_path / "g.dts"
    behind.write_text(f'#include "{GOOD}"\n&two {{ access = <&nic0>; }};\n')
    row = abi.view("bh_table", compile_on(behind, AARCH64).table)
    row.pci_functions[0].dma = abi.lib.BH_DMA_UNPROTECTED
    assert "no IOMMU translates" in monitor_refuses(AARCH64, resealed(row))


@pytest.mark.parametrize("platform", [BOCHS, AARCH64])
def test_a_driver_finds_where_functions_see_its_ram(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    plan = compile_on(written(tmp_path, GRANT, platform), platform)
    assert plan.valid, plan.errors
    for one in plan.sandboxes[:2]:
        page = next(piece.data for piece in plan.segments if piece.hpa == one.pool_hpa + abi.lib.BH_POOL_INFO)
        info = abi.view("bh_info", page)
        rows = {row.kind: row for row in list(info.grants)[: info.grant_count]}
        assert (abi.lib.BH_GRANT_DMA_RAM in rows) == (one.name == "two")
        if one.name == "two":
            seen = rows[abi.lib.BH_GRANT_DMA_RAM]
            assert (seen.gpa, seen.size) == (one.ram_hpa, rows[abi.lib.BH_GRANT_RAM].size)
            assert seen.gpa != rows[abi.lib.BH_GRANT_RAM].gpa


def test_linux_has_to_lie_where_it_sees_its_ram(compile_on: Compile, tmp_path: Path) -> None:
    """Which no PC can do; a board whose guest-ram is free can."""
    linux = GRANT.replace("&two { access = <&card>;", "&linux { access = <&uart1>, <&card>;")
    assert broken(compile_on(written(tmp_path, linux), BOCHS)) == ["BH-R123"]
    assert broken(compile_on(written(tmp_path, linux, AARCH64), AARCH64)) == ["BH-R123"]
    pinned = written(
        tmp_path,
        f"/delete-node/ &linux_ram;\n/ {{ reserved-memory {{ linux_ram: linux@50000000 {{ reg = <0x0 0x50000000 MiB(128)>; }}; }}; }};\n{linux}",
        AARCH64,
    )
    text = pinned.read_text().replace("#ifdef BOARD_TREE\n", "#ifdef BOARD_TREE\n/ { bulkhead { guest-ram = <0x0 0x50000000>; }; };\n")
    pinned.write_text(text.replace("&linux { access", "&linux { memory-region = <&linux_ram>; access"))
    assert set(broken(compile_on(pinned, AARCH64))) == {"BH-R063"}  # of native programs, which are linked elsewhere
