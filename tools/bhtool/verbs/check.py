# SPDX-License-Identifier: Apache-2.0
"""`bulkhead check`: judges a partition file without starting anything, and shows what it gives to whom."""

from collections.abc import Iterable
from pathlib import Path

import click
from rich.table import Table

from bhtool.bench.plot import require_format
from bhtool.codes.assumptions import Assumption
from bhtool.codes.catalogue import has_more
from bhtool.config.assumptions import relied_on
from bhtool.config.board import read_board
from bhtool.config.firmware import require_kept
from bhtool.config.plan import Diagnostic, Plan, ReachKind, SandboxPlan
from bhtool.config.schedulability import admitted_text
from bhtool.errors import Status
from bhtool.image.build import is_built
from bhtool.image.stages import judged_plan
from bhtool.jsonfile import write_json
from bhtool.picture.draw import draw_split
from bhtool.platforms import DEFAULT, load, names
from bhtool.provision.needs import versions_of
from bhtool.report.check_json import plan_json
from bhtool.report.given_up import machine_memory, memory_of
from bhtool.terminal.screen import Screen, table_of
from bhtool.text import size_text, us_text
from bhtool.verbs.options import Output, strict_option

MOST_EXPLAINED = 4
REACHES: dict[ReachKind, str] = {
    "kick": "kick {}, that is, have its monitor look after it",
    "log": "read the log of {}",
    "notice": "tell {} by an interrupt that it was parked",
    "channel": "send to {} by a channel",
}


def owned_line(one: SandboxPlan) -> str:
    """Lines and, on PCs, vectors."""
    return ", ".join(f"{line.line} ({line.name})" + (f" as {line.vector:#x}" if line.vector else "") for line in one.lines) or "-"


def sandbox_table(plan: Plan) -> Table:
    table = table_of(f"{plan.file.name} on {plan.platform}", "sandbox", "runs", "cores", "RAM", "console", "lines")
    for one in plan.sandboxes:
        cores, ram = " ".join(map(str, one.cores)), size_text(one.ram_size)
        if one.numa_of_cores:
            cores, ram = f"{cores} ({', '.join(one.numa_of_cores)})", f"{ram} ({', '.join(one.numa_of_ram)})"
        table.add_row(one.name, one.image, cores, ram, one.console, owned_line(one))
        if one.rest:
            table.caption = f"{one.name} takes the rest: {', '.join(one.rest)}"
    return table


def device_table(plan: Plan) -> Table:
    """Every device that is granted, and how it is known that by itself it reaches no memory but its sandbox's."""
    table = table_of("Devices, and why they reach no other memory by DMA", "sandbox", "device", "known by", "because")
    for one in plan.sandboxes:
        for name, known in one.devices.items():
            table.add_row(one.name, name, known.source, known.reason)
    return table


def reach_table(plan: Plan) -> Table:
    """Everything that one sandbox may do to another."""
    table = table_of("Who may reach whom", "sandbox", "may")
    for one in plan.sandboxes:
        for other, how in one.reaches:
            table.add_row(one.name, REACHES[how].format(plan.sandboxes[other].name))
    return table


def restart_table(plan: Plan) -> Table:
    """What a restart costs: stores of zeros and of payload, which bound its instructions on every machine."""
    table = table_of("Restarts", "sandbox", "faults", "zeroes", "copies back", "instructions", "heartbeat")
    for one in plan.sandboxes:
        heartbeat = f"{one.heartbeat_timeout_us:,} us" if one.heartbeat_timeout_us else "-"
        if one.restarts:
            sizes = size_text(one.ram_size), size_text(one.snapshot_size)
            table.add_row(one.name, str(one.max_restarts), *sizes, f"at most {one.restart_instructions:,}", heartbeat)
    return table


def memory_table(plan: Plan) -> Table:
    """What the machine gives up for each sandbox: its pool, with the log and the tables in it, and what a restart keeps. Then what it gives up once, and what is left."""
    table = table_of("Memory beside the sandboxes' RAM", "for", "monitor", "of it tables", "each core", "log", "restart copy", "in all")
    for one in plan.sandboxes:
        cost = memory_of(one)
        table.add_row(
            one.name,
            *(
                size_text(cost[name])
                for name in ("monitor_bytes", "table_bytes", "core_bytes", "log_bytes", "snapshot_bytes", "given_up_bytes")
            ),
        )
    for what, size in machine_memory(plan):
        table.add_row(what, "", "", "", "", "", size_text(size))
    return table


def vcpu_table(plan: Plan) -> Table:
    """By rank, with what each may have to wait: exact, or no less than what can happen. Of each core, what is asked and what the utilization bound allows."""
    table = table_of("VCPUs", "sandbox", "core", "VCPU", "budget", "period", "utilization", "response time")
    asked = []
    for one in plan.sandboxes:
        for core in one.loads:
            asked.append(f"core {core.core}: VCPUs ask for {admitted_text(core)}")
            for vcpu in core.vcpus:
                response = "-" if vcpu.response_us is None else f"{'' if core.exact else 'at most '}{vcpu.response_us:,} us"
                times = f"{vcpu.budget_us:,} us", f"{vcpu.period_us:,} us"
                table.add_row(one.name, str(core.core), vcpu.name, *times, f"{vcpu.utilization:.1%}", response)
    table.caption = "\n".join(asked)
    return table


def delay_table(plan: Plan) -> Table:
    """What the papers that it follows predict of each channel, and what holds for any other VCPUs on both cores."""
    table = table_of("Delays of channels, at most (docs/channel-bounds.md)", "channel", "of", "service", "paper", "bound", "deadline")
    notes, unbounded = list[str](), dict[str, list[str]]()
    for one in plan.channels:
        delay, of = one.delay, "a request and its reply" if one.kind == "mailbox" else "a message"
        bound = "no bound" if delay.bound_ns is None else us_text(delay.bound_ns)
        told = [f"{span:,} us" if span else "-" for span in (delay.service_us, delay.deadline_us)]
        table.add_row(one.name, of, told[0], "-" if delay.paper_ns is None else us_text(delay.paper_ns), bound, told[1])
        if delay.terms:
            notes.append(f"{one.name}: {'; '.join(delay.terms)}")
        for reason in delay.why:
            unbounded.setdefault(reason, []).append(one.name)
    if notes:
        notes.append(
            "C: budget, T: period, R: response time, U: what a thread surely has of C, K: what serving takes, n: messages that may be there"
        )
    notes += [f"no bound, as {reason}: {', '.join(names)}" for reason, names in unbounded.items()]
    table.caption = "\n".join(notes) or None
    return table


def allocation_table(plan: Plan) -> Table:
    """The machine's address spaces from bottom to top. A channel is its two ends', whoever laid it out."""
    table = table_of("Allocation", "space", "from", "to", "size", "what", "owner")
    ends = {("memory", one.hpa): ", ".join(plan.sandboxes[index].name for index in one.ends) for one in plan.channels}
    for held in sorted(plan.holdings, key=lambda one: (one.kind, one.start)):
        end = held.start + held.size - 1
        size = str(held.size) if held.kind == "port" else size_text(held.size)
        owner = ends.get((held.kind, held.start)) or held.owner or "nobody"
        table.add_row(held.kind, f"{held.start:#x}", f"{end:#x}", size, held.what, owner)
    return table


def assumption_table(found: list[Assumption]) -> Table:
    """A line each; `explain` has the whole, and how to verify it."""
    table = table_of("Not isolated: what it relies on (explain BH-A.. says how to verify it)", "assumption", "what is not isolated")
    for one in found:
        table.add_row(one.id, one.title)
    return table


def explained(found: Iterable[Diagnostic]) -> list[str]:
    """Rules of which `bulkhead explain` has more to say than their messages."""
    return [rule for rule in dict.fromkeys(one.rule for one in found) if has_more(rule)][:MOST_EXPLAINED]


@click.command()
@click.argument("partition", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="On which machine.")
@click.option("--json", "json_file", type=Output(), help="Write the same as JSON.")
@click.option("--build", is_flag=True, help="Build and fetch the software that the tool provides, so that its places are judged, too.")
@click.option("--plot", "plot_file", type=Output(), help="Draw who has what and who may reach whom: .svg, .png or .pdf.")
@click.option("--assumptions", is_flag=True, help="List what is not isolated that it relies on: docs/not-isolated.md.")
@click.option(
    "--firmware",
    "tables",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Compare memory that firmware lets devices use with what the board tree keeps: the machine's DMAR or IVRS, by `acpidump -b`.",
)
@strict_option
def check(
    partition: Path,
    platform_name: str,
    json_file: Path | None,
    build: bool,
    plot_file: Path | None,
    assumptions: bool,
    tables: tuple[Path, ...],
    strict: bool,
) -> Status:
    """Judge a partition file and show what it gives to whom.

    Without --build nothing is built or fetched on a machine where nothing has been: of software that the tool provides, only what is there is judged.
    """
    if plot_file:
        require_format(plot_file)
    screen = Screen()
    platform = load(platform_name)
    require_kept(read_board(platform), platform.board_name, tables)
    with screen.progress("preparing"):
        plan = judged_plan(platform, partition, screen, strict, provides=build or is_built(platform))
    for error in plan.errors:
        screen.diagnose(error)
    if more := explained(plan.errors):
        screen.warn(f"more about it: tools/bulkhead explain {' '.join(more)}")
    if plan.valid:
        screen.summary(sandbox_table(plan))
        if any(one.devices for one in plan.sandboxes):
            screen.summary(device_table(plan))
        if any(one.reaches for one in plan.sandboxes):
            screen.summary(reach_table(plan))
        elif len(plan.sandboxes) > 1:
            screen.summary("No sandbox may reach another.")
        if any(one.loads for one in plan.sandboxes):
            screen.summary(vcpu_table(plan))
        if plan.channels:
            screen.summary(delay_table(plan))
        screen.summary(allocation_table(plan))
        screen.summary(memory_table(plan))
        if any(one.restarts for one in plan.sandboxes):
            screen.summary(restart_table(plan))
        assumed = relied_on(plan, platform)
        if assumptions:
            screen.summary(assumption_table(assumed))
        elif assumed:
            screen.summary(f"It relies on {len(assumed)} assumptions on what is not isolated: --assumptions lists them.")
    if plan.valid and plot_file:
        with screen.progress(f"drawing {plot_file}"):
            draw_split(plan, plot_file, screen.report)
    if json_file:
        write_json(json_file, "check", plan_json(plan, platform), versions_of("dtc"))
    return Status.GOOD if plan.valid else Status.FAILED
