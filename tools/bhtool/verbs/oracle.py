# SPDX-License-Identifier: Apache-2.0
"""`bulkhead oracle`: proves the tables of a running machine equal to its partition file."""

from pathlib import Path
from typing import Any

import click
from rich.table import Table

from bhtool import paths
from bhtool.errors import Status
from bhtool.image.stages import judged_plan, make_image, warnings_json
from bhtool.jsonfile import write_json
from bhtool.machine.emulated import versions
from bhtool.oracle.capture import capture, look_of
from bhtool.oracle.judge import Examined, Verdict, judge
from bhtool.oracle.policy import places_of, read_partitioning
from bhtool.platforms import DEFAULT, load, names
from bhtool.terminal.screen import Screen, table_of
from bhtool.text import counted
from bhtool.verbs.options import Output, Seconds, strict_option

HOST_LIMIT = 600.0
LEGEND = (
    "tables, leaves: of the second stage; mapped: by its leaves; ports, MSRs r/w: that the guest reaches itself, read and written;\n"
    "streams: PCI functions that an IOMMU leads to its RAM, and nowhere else;\n"
    "not judged: protections that the file switches off; wrong: differences from the file"
)


def mapped_bytes(one: Examined) -> int:
    return sum(leaf.size for leaf in one.tree.leaves)


def verdict_table(verdict: Verdict, title: str) -> Table:
    table = table_of(title, "sandbox", "tables", "leaves", "mapped", "ports", "MSRs r/w", "streams", "not judged", "wrong")
    table.caption = LEGEND
    for one in verdict.sandboxes:
        name, exempt = one.policy.sandbox, " ".join(sorted(one.policy.exempt)) or "-"
        wrong = sum(finding.sandbox == name for finding in verdict.findings)
        mapped, registers = f"{mapped_bytes(one) / (1 << 20):.2f} MiB", f"{len(one.reads)}/{len(one.writes)}"
        table.add_row(
            name,
            str(len(one.tree.tables)),
            str(len(one.tree.leaves)),
            mapped,
            str(len(one.ports)),
            registers,
            str(verdict.open_streams(one.policy)),
            exempt,
            str(wrong),
        )
    return table


def sentence(verdict: Verdict) -> str:
    exempt = sorted({protection for one in verdict.sandboxes for protection in one.policy.exempt})
    but = f"; not judged, as it is switched off somewhere: {', '.join(exempt)}" if exempt else ""
    if verdict.findings:
        return f"differences between what the processors are told and the partition file: {len(verdict.findings)}{but}"
    return f"what the processors are told of {counted(len(verdict.sandboxes), 'sandbox', 'sandboxes')} is what the partition file says, both ways{but}"


def sandbox_json(verdict: Verdict, one: Examined) -> dict[str, Any]:
    return {
        "name": one.policy.sandbox,
        "tables": len(one.tree.tables),
        "leaves": len(one.tree.leaves),
        "mapped_bytes": mapped_bytes(one),
        "ports": len(one.ports),
        "msrs_read": len(one.reads),
        "msrs_written": len(one.writes),
        "streams": verdict.open_streams(one.policy),
        "not_judged": sorted(one.policy.exempt),
    }


@click.command()
@click.option("--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="Which machine.")
@click.option(
    "--partition", type=click.Path(path_type=Path), default=paths.PARTITIONS / "mixed.dts", help="Who owns what; default: the demo."
)
@click.option("--json", "json_file", type=Output(), help="Write the result as JSON.")
@click.option("--limit", type=Seconds(min=1), default=HOST_LIMIT, show_default=True, help="Host seconds after which the run is given up.")
@strict_option
def oracle(platform_name: str, partition: Path, json_file: Path | None, limit: float, strict: bool) -> Status:
    """Boot a machine and prove its tables equal to the partition file.

    An independent decoder reads translation tables and permission maps from the machine's memory. It fails, with status 1,
    on any difference: something open that is not granted, or granted and not open.
    """
    screen = Screen()
    platform = load(platform_name)
    with screen.progress("preparing"):
        plan = judged_plan(platform, partition, screen, strict)
        snapshot = capture(platform, plan, make_image(platform, plan), limit, screen.update)
    verdict = judge(snapshot, read_partitioning(partition, platform, places_of(plan)), look_of(platform).read)
    for finding in verdict.findings:
        screen.complain(str(finding))
    screen.summary(verdict_table(verdict, f"{partition.name} on {platform.name}"))
    screen.say(sentence(verdict))
    if json_file:
        found = [vars(finding) for finding in verdict.findings]
        sandboxes = [sandbox_json(verdict, one) for one in verdict.sandboxes]
        content = {"platform": platform.name, "partition": str(partition), "sandboxes": sandboxes, "findings": found} | warnings_json(plan)
        write_json(json_file, "oracle", content, versions(platform))
    return Status.FAILED if verdict.findings else Status.GOOD
