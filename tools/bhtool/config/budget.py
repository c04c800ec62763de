# SPDX-License-Identifier: Apache-2.0
"""What a plan costs: translation tables per sandbox, rows of the partition table; and whether that fits."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.abi import lib
from bhtool.config.grants import Grant
from bhtool.config.iommu import Iommu
from bhtool.config.plan import Diagnostic, Plan, Region, SandboxPlan
from bhtool.config.rules import diagnose
from bhtool.config.span import MIB2, PAGE
from bhtool.families.table import FAMILIES
from bhtool.text import size_text

GRANTS, ROWS, POOL = "BH-R070", "BH-R071", "BH-R072"
LEAVES = (1 << 30, MIB2, PAGE)  # largest first


def tables_of(regions: list[Region], arch: str) -> set[tuple[int, int]]:
    """(level, index) of every table the regions need, mapped with the largest leaves that fit."""
    spans = FAMILIES[arch].monitor.table_spans
    needed = {(0, 0)}
    for region in regions:
        for gpa, leaf in _leaves(region):
            needed |= {(level, gpa // span) for level, span in enumerate(spans) if span > leaf}
    return needed


def _leaves(region: Region) -> Iterator[tuple[int, int]]:
    """(gpa, size) of each leaf."""
    done = 0
    while done < region.size:
        gpa, hpa = region.gpa + done, region.hpa + done
        size = next(leaf for leaf in LEAVES if (gpa | hpa) % leaf == 0 and region.size - done >= leaf)
        yield gpa, size
        done += size


def count_tables(sandbox: SandboxPlan, arch: str, iommu: Iommu | None) -> None:
    """Fills in the sandbox's table bytes: those its RAM needs, those everything else adds, and those of functions that master the bus, whose
    second root maps the RAM, and what is open to them, by tables of the same geometry."""
    ram = tables_of([region for region in sandbox.regions if region.kind == "ram"], arch)
    everything = tables_of(sandbox.regions + sandbox.configuration, arch)
    reached = tables_of([*sandbox.ram, *sandbox.for_functions], arch)
    sandbox.ram_table_bytes = len(ram) * PAGE
    sandbox.other_table_bytes = (len(everything) - len(ram)) * PAGE
    sandbox.iommu_table_bytes = (len(reached) + iommu.kind.frames) * PAGE if iommu and sandbox.masters else 0


def judge_budget(plan: Plan, grants: dict[int, list[Grant]]) -> Iterator[Diagnostic]:
    """What does not fit; grants by sandbox index."""
    for sandbox in plan.sandboxes:
        where = sandbox.access_location
        rows = len(grants[sandbox.index])
        if rows > lib.BH_MAX_GRANTS:
            yield diagnose(GRANTS, where, f"`{sandbox.name}` has {rows} grants, {lib.BH_MAX_GRANTS} fit")
        most = lib.BH_SMALL_POOL_BYTES + max(0, len(sandbox.cores) - lib.BH_SMALL_CORES) * lib.BH_CORE_POOL_BYTES
        if sandbox.pool_size > most:
            tables = sandbox.ram_table_bytes + sandbox.other_table_bytes + sandbox.iommu_table_bytes
            text = f"the monitor of `{sandbox.name}` needs {size_text(sandbox.pool_size)}, {size_text(tables)} of them for its translation tables"
            yield diagnose(POOL, where, f"{text}; it can have {size_text(most)}")
    yield from _judge_rows(plan)


def _judge_rows(plan: Plan) -> Iterator[Diagnostic]:
    """Each array of the table; told at the sandbox whose row is the first too many."""
    limits = {
        "all_regions": lib.BH_MAX_REGIONS,
        "ports": lib.BH_MAX_PORTS,
        "lines": lib.BH_MAX_LINES,
        "functions": lib.BH_MAX_PCI_FUNCTIONS,
    }
    yield from _judge_arrays(plan, limits)


def judge_pieces(plan: Plan) -> Iterator[Diagnostic]:
    """The same for what is known only when payloads are."""
    yield from _judge_arrays(plan, {"pieces": lib.BH_MAX_PIECES})


def _judge_arrays(plan: Plan, limits: dict[str, int]) -> Iterator[Diagnostic]:
    for name, most in limits.items():
        total, what = 0, name.removeprefix("all_")
        for sandbox in plan.sandboxes:
            before, total = total, total + len(getattr(sandbox, name))
            if before <= most < total:
                yield diagnose(ROWS, sandbox.access_location, f"with `{sandbox.name}` there are {total} {what} or more, {most} fit")
