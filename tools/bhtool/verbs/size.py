# SPDX-License-Identifier: Apache-2.0
"""`bulkhead size`: what stays in memory of each monitor after start-up, its source, and the tables of each sandbox."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import click
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from bhtool import paths
from bhtool.compile import make_plan
from bhtool.config.plan import SandboxPlan
from bhtool.errors import BulkheadError, Status
from bhtool.jsonfile import write_json
from bhtool.platforms import Platform, every, load, names
from bhtool.screen import Screen, table_of

BUDGET_BYTES = 8192
GUESTS = ("kernel/", "tests/")  # build targets that are not of the monitor
LAYERS = ("abi", "arch", "hal", "monitor", "platforms")


@dataclass(frozen=True)
class MonitorSize:
    text_bytes: int
    rodata_bytes: int
    data_bytes: int
    boot_bytes: int  # dropped after start-up
    source_lines: int

    @property
    def resident_bytes(self) -> int:
        return self.text_bytes + self.rodata_bytes

    def as_dict(self) -> dict[str, int]:
        sizes = {"resident_bytes": self.resident_bytes, "resident_data_bytes": self.data_bytes}
        return sizes | {"source_lines": self.source_lines, "budget_bytes": BUDGET_BYTES} | vars(self)


def linker_symbols(elf: Path) -> dict[str, int]:
    """The names the linker script gives: where each part begins, ends, and how much of its last page is used."""
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection), f"{elf} has no symbols"
        return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols() if symbol.name.startswith("__")}


def source_files(build: Path) -> set[Path]:
    """Every file of this project that went into the monitor: its compilations and the headers they read."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found: set[Path] = set()
    for block in listed.split("\n\n"):
        if not block.lstrip().startswith(GUESTS):
            found |= {(build / line.strip()).resolve() for line in block.splitlines()[1:]}
    return {path for path in found if path.is_relative_to(paths.ROOT) and path.relative_to(paths.ROOT).parts[0] in LAYERS}


def code_lines(text: str) -> int:
    """Lines with code on them: no comments, no blanks."""
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    return sum(1 for line in bare.splitlines() if line.strip())


def measure(platform: Platform) -> MonitorSize:
    at = linker_symbols(platform.build / "bulkhead.elf")
    return MonitorSize(
        text_bytes=at["__resident_text_used"] - at["__resident_text_start"],
        rodata_bytes=at["__resident_rodata_used"] - at["__resident_rodata_start"],
        data_bytes=at.get("__resident_data_used", at["__resident_data_end"]) - at["__resident_data_start"],
        boot_bytes=at["__boot_end"] - at["__boot_start"],
        source_lines=sum(code_lines(path.read_text(encoding="utf-8")) for path in source_files(platform.build)),
    )


def tables_json(platform: Platform, sandboxes: list[SandboxPlan]) -> list[dict[str, object]]:
    return [
        {"platform": platform.name, "sandbox": one.name, "ram_table_bytes": one.ram_table_bytes, "other_table_bytes": one.other_table_bytes}
        for one in sandboxes
    ]


@click.command()
@click.option("--platform", "platform_name", type=click.Choice(names()), help="Only this one; default: all.")
@click.option(
    "--partition", type=click.Path(path_type=Path), default=paths.PARTITIONS / "mixed.dts", help="Whose tables; default: the demo."
)
@click.option("--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write the same as JSON.")
def size(platform_name: str | None, partition: Path, json_file: Path | None) -> Status:
    """Measure the resident monitors and their tables."""
    screen = Screen()
    chosen = [load(platform_name)] if platform_name else every()
    backends: dict[str, dict[str, int]] = {}
    tables: list[dict[str, object]] = []
    monitors = table_of("Monitor, bytes", "backend", "resident", "of budget", "data", "dropped", "source lines")
    rows = table_of(f"Stage-2 tables of {partition.name}, bytes", "platform", "sandbox", "for RAM", "for the rest")
    for platform in chosen:
        with screen.progress(f"measuring {platform.name}"):
            plan = make_plan(platform, partition, screen.report)
        if not plan.valid:
            raise BulkheadError(f"{plan.errors[0]}")
        found = measure(platform)
        backends[platform.backend] = found.as_dict()
        share = f"{100 * found.resident_bytes // BUDGET_BYTES} %"
        monitors.add_row(
            platform.backend, str(found.resident_bytes), share, *map(str, (found.data_bytes, found.boot_bytes, found.source_lines))
        )
        for row in tables_json(platform, plan.sandboxes):
            tables.append(row)
            rows.add_row(*map(str, row.values()))
    screen.summary(monitors)
    screen.summary(rows)
    if json_file:
        write_json(json_file, "size", {"backends": backends, "tables": tables}, ("clang-19", "ld.lld-19"))
    return Status.GOOD if all(sizes["resident_bytes"] <= BUDGET_BYTES for sizes in backends.values()) else Status.FAILED
