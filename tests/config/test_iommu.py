# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma. Functions that master the bus, from the board tree to the partition table: judged, counted, and placed beside the IOMMU's tables."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool import abi
from bhtool.config.plan import DmaFree, Plan, Translated
from bhtool.config.span import Span

Compile = Callable[[Path, str], Plan]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
PAGE, MIB2 = 4096, 2 << 20
SMMU = """iommu: iommu@9050000 { compatible = "arm,smmu-v3"; reg = <0x0 0x9050000 0x0 0x20000>; #iommu-cells = <1>; };"""
AMDVI = """iommu: iommu@fed80000 { compatible = "bulkhead,amd-vi"; reg = <0x0 0xfed80000 0x0 0x4000>; #iommu-cells = <1>; bulkhead,function = <0x8>; };"""
VTD = """iommu: iommu@fed90000 { compatible = "bulkhead,vt-d"; reg = <0x0 0xfed90000 0x0 0x1000>; #iommu-cells = <1>; };"""
OF_BOARD = {
    SMMU: ("BH_IOMMU_SMMUV3", 0x9050000, 0, 0x20000000),
    AMDVI: ("BH_IOMMU_AMDVI", 0xFED80000, 8, 0xC0200000),
    VTD: ("BH_IOMMU_VTD", 0xFED90000, 0, 0xC0200000),
}
MACHINES = (("qemu-aarch64", SMMU), ("qemu-aarch64-gicv2", SMMU), ("qemu-armv7", SMMU), ("qemu-svm", AMDVI), ("qemu-svm", VTD))
REMAPPING = {SMMU: 0, AMDVI: 2, VTD: 0}  # frames of a sandbox
TABLES = {SMMU: abi.lib.BH_SMMUV3_BYTES, AMDVI: abi.lib.BH_AMDVI_BYTES, VTD: abi.lib.BH_VTD_BYTES}


def written(folder: Path, iommu: str, changes: str, of_host: str = "iommu-map = <0x0 &iommu 0x0 0x100>;") -> Path:
    name, registers, function, memory = OF_BOARD[iommu]
    file = folder / "f.dts"
    file.write_text(f"""/* BOARD_IOMMU {name} {registers:#x} {function:#x} */
#ifdef BOARD_TREE
/ {{ {iommu} }};
&pci0 {{
	{of_host}
	nic0: ethernet@5,0 {{
		compatible = "pci8086,10d3", "pciclass,0200";
		reg = <0x2800 0 0 0 0>;
		assigned-addresses = <0x82002810 0x0 {memory:#x} 0x0 0x20000>;
	}};
}};
#else
#include "{GOOD}"
{changes}
#endif
""")
    return file


GRANT = "&two { access = <&nic0>; };"


@pytest.mark.parametrize(("platform", "iommu"), MACHINES)
def test_a_function_that_masters_is_granted_and_marked(
    compile_on: Compile, tmp_path: Path, monitor_refuses: Callable[[str, bytes], str], platform: str, iommu: str
) -> None:
    """Its registers as well; start-up takes the table."""
    plan = compile_on(written(tmp_path, iommu, GRANT), platform)
    assert (plan.errors, plan.warnings) == ([], [])
    table = abi.view("bh_table", plan.table)
    function = table.pci_functions[0]
    assert (table.pci_function_count, function.sandbox, function.id, function.dma) == (1, 1, 0x28, abi.lib.BH_DMA_TRANSLATED)
    bars = {row.dma for row in list(table.regions)[: table.region_count] if row.kind == abi.lib.BH_REGION_BAR}
    assert bars == {abi.lib.BH_DMA_TRANSLATED}
    assert (table.iommu, table.iommu_tables) == (getattr(abi.lib, OF_BOARD[iommu][0]), plan.iommu_hpa)
    assert monitor_refuses(platform, plan.table) == ""
    known = plan.sandboxes[1].devices["nic0"]
    assert isinstance(known, Translated)
    assert known.source == "iommu"
    assert known.reason.endswith(" leads its stream, 0x28, to RAM of its sandbox alone")


@pytest.mark.parametrize(("platform", "iommu"), MACHINES)
def test_tables_of_the_iommu_are_nobodys(compile_on: Compile, tmp_path: Path, platform: str, iommu: str) -> None:
    """And are there when nobody has a function: then each is to be blocked."""
    for changes in (GRANT, ""):
        plan = compile_on(written(tmp_path, iommu, changes), platform)
        tables = Span(plan.iommu_hpa, plan.iommu_bytes)
        assert (tables.size, tables.start % abi.lib.BH_IOMMU_ALIGN, bool(tables.start)) == (TABLES[iommu], 0, True)
        others = [Span(region.hpa, region.size) for one in plan.sandboxes for region in one.regions]
        others += [Span(one.pool_hpa, one.pool_size) for one in plan.sandboxes] + [Span(plan.shared_hpa, PAGE)]
        assert not [one for one in others if one.overlaps(tables)]
        held = [(one.what, one.owner) for one in plan.holdings if one.start == tables.start]
        assert held == [("tables of the IOMMU", "monitor")]


@pytest.mark.parametrize(("platform", "iommu"), MACHINES)
def test_a_second_root_is_counted(compile_on: Compile, tmp_path: Path, platform: str, iommu: str) -> None:
    """Tables for RAM alone, as those of stage 2; with AMD-Vi a page of interrupts. Who has no function that masters pays nothing."""
    plan = compile_on(written(tmp_path, iommu, GRANT), platform)
    one, two, _ = plan.sandboxes
    assert two.iommu_table_bytes == two.ram_table_bytes + REMAPPING[iommu] * PAGE
    assert one.iommu_table_bytes == 0
    engine = written(tmp_path, iommu, GRANT)
    engine.write_text(engine.read_text().replace('"pciclass,0200";', '"pciclass,00ff"; bulkhead,dma-free = "no engine";'))
    passive = compile_on(engine, platform).sandboxes[1]
    assert passive.iommu_table_bytes == 0
    assert two.pool_size > passive.pool_size + two.iommu_table_bytes  # and the monitor maps registers and tables


def test_whose_dma_is_known_needs_no_translation(compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, SMMU, "&two { access = <&pcitest0>; };"), "qemu-aarch64")
    assert isinstance(plan.sandboxes[1].devices["pcitest0"], DmaFree)
    assert plan.sandboxes[1].functions[0].dma == "free"


def test_the_iommu_itself_is_no_device(compile_on: Compile, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, SMMU, "&two { access = <&iommu>; };"), "qemu-aarch64")
    assert [one.rule for one in plan.errors] == ["BH-R040"]


@pytest.mark.parametrize(("iommu", "size", "is_refused"), [(VTD, 0x100000, False), (VTD, 0x200000, True), (AMDVI, 0x200000, False)])
def test_a_monitor_owns_messages_in_small_base_addresses(
    compile_on: Compile, tmp_path: Path, iommu: str, size: int, is_refused: bool
) -> None:
    """Of a table of MSI-X behind VT-d, whose pages are the monitor's."""
    file = written(tmp_path, iommu, "")
    cells = f"<0x82002810 0x0 0xc0200000 0x0 {size:#x}>; bulkhead,msix = <0 0x2000 5>;"
    file.write_text(file.read_text().replace("<0x82002810 0x0 0xc0200000 0x0 0x20000>;", cells))
    errors = compile_on(file, "qemu-svm").errors
    assert ["BH-R125" in str(one) for one in errors] == [True] * is_refused


@pytest.mark.parametrize(("iommu", "start", "is_refused"), [(VTD, 0xC0200800, True), (VTD, 0xC0201000, False), (AMDVI, 0xC0200800, False)])
def test_a_page_that_a_monitor_owns_has_one_table(compile_on: Compile, tmp_path: Path, iommu: str, start: int, is_refused: bool) -> None:
    file = written(tmp_path, iommu, "")
    table = "bulkhead,msix = <0 0x0 5>;"
    second = f"""nic1: ethernet@6,0 {{ compatible = "pci8086,10d3", "pciclass,0200"; reg = <0x3000 0 0 0 0>;
        assigned-addresses = <0x82003010 0x0 {start:#x} 0x0 0x800>; {table} }};"""
    first = "<0x82002810 0x0 0xc0200000 0x0 0x20000>;"
    text = file.read_text().replace(
        f"assigned-addresses = {first}\n\t}};", f"assigned-addresses = {first.replace('0x20000>', '0x800>')} {table} }};\n{second}"
    )
    file.write_text(text)
    errors = compile_on(file, "qemu-svm").errors
    assert [str(one) for one in errors if "shares a page" not in str(one)] == []
    assert ["BH-R125" in str(one) and "shares a page" in str(one) for one in errors] == [True] * is_refused


@pytest.mark.parametrize(
    ("iommu", "offset", "is_refused"),
    [(VTD, 0x2000, False), (VTD, 0x2008, True), (AMDVI, 0x2008, False), (AMDVI, 0x2004, True)],
)
def test_a_monitor_owns_messages_that_lie_as_their_words_do(
    compile_on: Compile, tmp_path: Path, iommu: str, offset: int, is_refused: bool
) -> None:
    file = written(tmp_path, iommu, "")
    cells = f"<0x82002810 0x0 0xc0200000 0x0 0x20000>; bulkhead,msix = <0 {offset:#x} 5>;"
    file.write_text(file.read_text().replace("<0x82002810 0x0 0xc0200000 0x0 0x20000>;", cells))
    errors = compile_on(file, "qemu-svm").errors
    assert ["BH-R125" in str(one) and "no multiple" in str(one) for one in errors] == [True] * is_refused


@pytest.mark.parametrize(("platform", "iommu"), MACHINES)
def test_a_board_tree_without_its_iommu_is_one_mistake(platform: str, iommu: str, tmp_path: Path, compile_on: Compile) -> None:
    """It is told where the board's PCI host is, and not as if the function should be taken out of `access` (BH-R103)."""
    file = written(tmp_path, iommu, "&two { access = <&nic0>; };", of_host="")
    file.write_text(file.read_text().replace(iommu, "", 1))
    (only,) = compile_on(file, platform).errors
    assert (only.rule, file.read_text().splitlines()[only.line - 1]) == ("BH-R104", "&pci0 {")
    assert "the board tree has no IOMMU" in only.text
