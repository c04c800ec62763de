# SPDX-License-Identifier: Apache-2.0
"""`bulkhead size`: what stays in memory of each monitor after start-up, its source, and the tables of each sandbox."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from rich.table import Table

from bhtool import paths
from bhtool.abi import lib
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.config.private import read_private
from bhtool.documents.lines import Lines, above_hal, source_files, split
from bhtool.documents.results import store
from bhtool.errors import Status
from bhtool.image.build import build_platform
from bhtool.image.stages import judged_plan, require_valid, warnings_json
from bhtool.jsonfile import document, write_json
from bhtool.platforms import Platform, every, load, names
from bhtool.provision.needs import versions_of
from bhtool.terminal.screen import Screen, table_of
from bhtool.verbs.options import Output, strict_option


def budget_bytes() -> int:
    """What the linker allows a resident monitor."""
    script = paths.ROOT / "arch" / "resident_budget.lds"
    found = re.search(r"__resident_budget_bytes = (\d+);", script.read_text(encoding="utf-8"))
    assert found, f"{script} names no budget"
    return int(found[1])


BUDGET_BYTES = budget_bytes()
IOMMU_PARTS = {lib.BH_IOMMU_AMDVI: "amdvi", lib.BH_IOMMU_VTD: "vtd"}  # by the linker script's names: arch/x86_64/monitor.lds


@dataclass(frozen=True)
class MonitorSize:
    text_bytes: int
    rodata_bytes: int
    data_bytes: int
    boot_bytes: int  # dropped after start-up

    @property
    def resident_bytes(self) -> int:
        return self.text_bytes + self.rodata_bytes

    def as_dict(self, source_lines: int) -> dict[str, int]:
        sizes = {"resident_bytes": self.resident_bytes, "resident_data_bytes": self.data_bytes}
        return sizes | {"source_lines": source_lines, "budget_bytes": BUDGET_BYTES} | vars(self)


@dataclass(frozen=True)
class Measured:
    """One platform: its monitor, and a partition on it."""

    platform: Platform
    monitor: MonitorSize
    plan: Plan

    @property
    def sandboxes(self) -> list[SandboxPlan]:
        return self.plan.sandboxes


def linker_symbols(elf: Path) -> dict[str, int]:
    """The names the linker script gives: where each part begins, ends, and how much of its last page is used."""
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection), f"{elf} has no symbols"
        return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols() if symbol.name.startswith("__")}


def parts_of(platform: Platform, at: dict[str, int]) -> list[str]:
    """What all machines keep; where one image holds several backends, this platform's and its IOMMU's besides."""
    iommu = read_private(platform.board_name).iommu
    own = (platform.backend, IOMMU_PARTS.get(iommu[0], "") if iommu else "")
    return ["resident", *(name for name in own if f"__{name}_text_start" in at)]


def measure(platform: Platform) -> MonitorSize:
    at = linker_symbols(platform.build / "bulkhead.elf")
    parts = parts_of(platform, at)
    return MonitorSize(
        text_bytes=sum(at[f"__{part}_text_used"] - at[f"__{part}_text_start"] for part in parts),
        rodata_bytes=sum(at[f"__{part}_rodata_used"] - at[f"__{part}_rodata_start"] for part in parts),
        data_bytes=at.get("__resident_data_used", at["__resident_data_end"]) - at["__resident_data_start"],
        boot_bytes=at["__boot_end"] - at["__boot_start"],
    )


def measured(platform: Platform, partition: Path, screen: Screen, strict: bool) -> Measured:
    with screen.progress(f"measuring {platform.name}"):
        plan = judged_plan(platform, partition, screen, strict)
    require_valid(plan)
    return Measured(platform, measure(platform), plan)


def lines_by_backend(screen: Screen) -> dict[str, Lines]:
    """Of all machines: what a backend has to itself, only the others tell."""
    with screen.progress("counting lines"):
        for platform in every():
            build_platform(platform, screen.report)
    return split({platform.backend: source_files(platform.build, platform.backend) for platform in every()})


def monitor_table(found: list[Measured]) -> Table:
    table = table_of("Monitors, bytes", "platform", "backend", "resident", f"of {BUDGET_BYTES:,}", "data", "dropped")
    for one in found:
        size = one.monitor
        share = f"{100 * size.resident_bytes // BUDGET_BYTES} %"
        figures = f"{size.resident_bytes:,}", share, f"{size.data_bytes:,}", f"{size.boot_bytes:,}"
        table.add_row(one.platform.name, one.platform.backend, *figures)
    return table


def lines_table(lines: dict[str, Lines]) -> Table:
    table = table_of("Lines of code", "backend", "its own", "shared with some", "shared with all", "together")
    total, mentions = above_hal()
    table.caption = f"above hal/: {total:,} lines, {len(mentions)} of them mention a vendor"
    for backend, one in lines.items():
        figures = (one.own, one.shared_with_some, one.shared_with_all, one.together)
        table.add_row(backend, *(f"{figure:,}" for figure in figures))
    return table


def stage2_table(found: list[Measured], partition: Path) -> Table:
    """A column for each sandbox: what its RAM needs, and what everything else adds."""
    once = ["the IOMMU's own"] if any(one.plan.iommu for one in found) else []
    table = table_of(f"Stage-2 tables of {partition.name}, bytes", "platform", *(one.name for one in found[0].sandboxes), *once)
    table.caption = "for RAM + for the rest, + for functions that master the bus"
    for one in found:
        own = [f"{one.plan.iommu_bytes:,}"] if once else []
        table.add_row(one.platform.name, *(_tables_text(each) for each in one.sandboxes), *own)
    return table


def _tables_text(one: SandboxPlan) -> str:
    text = f"{one.ram_table_bytes:,} + {one.other_table_bytes:,}"
    return f"{text} + {one.iommu_table_bytes:,}" if one.iommu_table_bytes else text


def tables_json(one: Measured) -> list[dict[str, object]]:
    return [
        {"platform": one.platform.name, "sandbox": each.name}
        | {name: getattr(each, name) for name in ("ram_table_bytes", "other_table_bytes", "iommu_table_bytes")}
        for each in one.sandboxes
    ]


def size_json(found: list[Measured], lines: dict[str, Lines]) -> dict[str, Any]:
    total, mentions = above_hal()
    return {
        "backends": {one.platform.backend: one.monitor.as_dict(lines[one.platform.backend].together) for one in found},
        "tables": [row for one in found for row in tables_json(one)],
        "iommu_tables": {one.platform.name: one.plan.iommu_bytes for one in found},
        "lines": {backend: vars(one) | {"together": one.together} for backend, one in lines.items()},
        "above_hal": {"lines": total, "mention_a_vendor": len(mentions)},
        "warnings": [{"platform": one.platform.name} | warning for one in found for warning in warnings_json(one.plan)["warnings"]],
    }


def stored_document(one: Measured, lines: Lines) -> dict[str, Any]:
    """What docs/results keeps of one platform."""
    total, mentions = above_hal()
    content = {
        "monitor": one.monitor.as_dict(lines.together),
        "tables": {row["sandbox"]: row for row in tables_json(one)},
        "lines": vars(lines) | {"together": lines.together},
        "above_hal": {"lines": total, "mention_a_vendor": len(mentions)},
    }
    return document("size", content, versions_of("clang-19", "ld.lld-19"))


@click.command()
@click.option("--platform", "platform_name", type=click.Choice(names()), help="Only this one; default: all.")
@click.option(
    "--partition", type=click.Path(path_type=Path), default=paths.PARTITIONS / "mixed.dts", help="Whose tables; default: the demo."
)
@click.option("--json", "json_file", type=Output(), help="Write the same as JSON.")
@click.option("--store", "keep", is_flag=True, help="Keep it in docs/results, with its commit, for `figures`.")
@strict_option
def size(platform_name: str | None, partition: Path, json_file: Path | None, keep: bool, strict: bool) -> Status:
    """Measure the resident monitors, their source and their tables."""
    screen = Screen()
    wanted = [load(platform_name)] if platform_name else every()
    found = [measured(platform, partition, screen, strict) for platform in wanted]
    lines = lines_by_backend(screen)
    lines = {one.platform.backend: lines[one.platform.backend] for one in found}
    for table in (monitor_table(found), lines_table(lines), stage2_table(found, partition)):
        screen.summary(table)
    if json_file:
        write_json(json_file, "size", size_json(found, lines), versions_of("clang-19", "ld.lld-19"))
    for one in found if keep else []:
        store("size", one.platform.name, stored_document(one, lines[one.platform.backend]))
    fits = all(one.monitor.resident_bytes <= BUDGET_BYTES for one in found)
    return Status.GOOD if fits and not above_hal()[1] else Status.FAILED
