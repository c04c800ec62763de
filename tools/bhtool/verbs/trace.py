# SPDX-License-Identifier: Apache-2.0
"""`bulkhead trace`: runs a machine whose sandbox kernels trace, and writes what they did and when."""

from pathlib import Path

import click
from rich.table import Table

from bhtool import paths
from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError, Status
from bhtool.image.stages import judged_plan, make_image, require_valid, warnings_json
from bhtool.jsonfile import write_json
from bhtool.machine.attach import require_sandbox
from bhtool.machine.emulated import Machine, timing_for, versions
from bhtool.machine.goal import Goal
from bhtool.machine.session import Session
from bhtool.platforms import DEFAULT, names
from bhtool.platforms import load as load_platform
from bhtool.report.show import Show
from bhtool.terminal.screen import Screen, table_of
from bhtool.trace.account import account, counted, shares
from bhtool.trace.perfetto import perfetto
from bhtool.trace.plot import draw, require_format
from bhtool.trace.rings import NS, RECORD_BYTES, Trace, lib
from bhtool.trace.tell import traced_at, traces_of, with_tracing
from bhtool.trace.timeline import Timeline, timelines
from bhtool.verbs.options import Output, Seconds, strict_option
from bhtool.verbs.run import HOST_LIMIT, watch_until

DEMO = paths.PARTITIONS / "mixed.dts"
RING_KIB, MOST_RING_KIB = 1024, lib.BH_TRACE_MOST_RECORDS * RECORD_BYTES >> 10
STRANGE = "no sandbox's records are of times that the machine has had"
NOTHING = "nothing was traced: was a sandbox kernel started, and did it have memory for its rings? `--seconds` may have been too few"
CLOCK_FACTOR, CLOCK_SECONDS = 1.1, 1.0  # by which a sandbox's clock may be ahead of the emulator's
Traced = tuple[Trace, list[Timeline]]


def chosen(plan: Plan, at: dict[str, int], wanted: tuple[str, ...]) -> dict[str, int]:
    """Those sandboxes that are to trace, and where they have their rings."""
    for name in wanted:
        require_sandbox(plan, name, "--sandbox")
        if name not in at:
            raise BulkheadError(f"--sandbox: {name} runs no sandbox kernel, which alone can trace", Status.USAGE)
    found = {name: place for name, place in at.items() if not wanted or name in wanted}
    if not found:
        raise BulkheadError(f"no sandbox of {plan.file.name} runs a sandbox kernel, which alone can trace", Status.USAGE)
    return found


def require_drawn(plot_file: Path | None, start_ms: float | None, span_ms: float | None, seconds: float | None) -> None:
    """Refuses a picture that cannot be, before a machine is run for it."""
    if plot_file:
        require_format(plot_file)
    for option, value in (("--from", start_ms), ("--span", span_ms)):
        if value is not None and not plot_file:
            raise BulkheadError(f"{option} says what a picture shows; give --plot FILE, too, or leave it out", Status.USAGE)
    if start_ms is not None and seconds is not None and start_ms >= 1000 * seconds:
        text = f"--from {start_ms:g}: the run ends after {1000 * seconds:g} ms of guest time (--seconds {seconds:g}); give less, or more --seconds"
        raise BulkheadError(text, Status.USAGE)


def of_this_run(found: list[Traced], seconds: float, screen: Screen) -> list[Traced]:
    """Without sandboxes that have records of times which the machine, now at `seconds` of its own, has not had: what they wrote there moves no picture."""
    good = []
    for trace, lines in found:
        end = max((line.end for line in lines), default=0) / NS
        if end <= CLOCK_FACTOR * seconds + CLOCK_SECONDS:
            good.append((trace, lines))
        else:
            screen.warn(
                f"{trace.sandbox} is not in the picture: it says that it did something at {end:,.1f} s, and the machine ran for {seconds:,.1f} s"
            )
    return good


def summary(found: list[Traced], ring_kib: int) -> Table:
    """`ring_kib`: what --ring was."""
    us = ("budget\nus", "ran on it\nus", "without\nus", "interrupts\nus")
    table = table_of("Traced", "sandbox", "core", "seconds", "records", "lost", "VCPU", *us, "used\nup", "had")
    for column in (*table.columns[2:5], *table.columns[6:]):
        column.justify = "right"
    for trace, lines in found:
        for ring, line in zip(trace.rings, lines, strict=True):
            head = [trace.sandbox, str(ring.core), f"{(line.end - line.start) / NS:,.3f}", *(f"{count:,}" for count in counted(ring, line))]
            for share in shares(trace, line):
                budget = f"{share.budget / 1000:,.0f} of\n{share.period / 1000:,.0f}"
                ran = [f"{ns / 1000:,.0f}" for ns in (share.foreground, share.background, share.interrupts)]
                part = (share.foreground + share.background) / (line.end - line.start)
                table.add_row(*head, share.name, budget, *ran, f"{share.used_up:,}", f"{100 * part:.1f}%")
                head = [""] * 5
            if head[0]:
                table.add_row(*head)
    table.caption = (
        "seconds: from the oldest record to the latest; had: the share of them for which the VCPU ran, on its budget and without"
    )
    if any(counted(ring, line)[1] for trace, lines in found for ring, line in zip(trace.rings, lines, strict=True)):
        remedy = "they are as large as can be" if ring_kib >= MOST_RING_KIB else f"--ring makes them larger than {ring_kib} KiB"
        table.caption += f"\nlost: rings keep the latest records; {remedy}"
    return table


@click.command()
@click.option("--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="Which machine.")
@click.option("--partition", type=click.Path(path_type=Path), default=DEMO, help="Who owns what; default: the mixed-criticality demo.")
@click.option("--seconds", type=Seconds(min=0), help="Stop after so many seconds of guest time.")
@click.option("--output", "-o", type=Output(), required=True, help="File to write, for https://ui.perfetto.dev.")
@click.option("--plot", "plot_file", type=Output(), help="Also draw a time line; the name ends in .svg, .png or .pdf.")
@click.option("--from", "start_ms", type=Seconds(min=0), help="With --plot, draw from so many ms of guest time on.")
@click.option("--span", "span_ms", type=Seconds(min=0.001), help="With --plot, draw so many ms.")
@click.option("--sandbox", "wanted", multiple=True, metavar="NAME", help="Trace this one only; may be given several times.")
@click.option(
    "--ring", "ring_kib", type=click.IntRange(min=4, max=MOST_RING_KIB), default=RING_KIB, show_default=True, help="KiB of a core's ring."
)
@click.option("--json", "json_file", type=Output(), help="Write what each VCPU had, as JSON.")
@click.option("--limit", type=Seconds(min=1), default=HOST_LIMIT, show_default=True, help="Host seconds after which the run is given up.")
@strict_option
def trace(
    platform_name: str,
    partition: Path,
    seconds: float | None,
    output: Path,
    plot_file: Path | None,
    start_ms: float | None,
    span_ms: float | None,
    wanted: tuple[str, ...],
    ring_kib: int,
    json_file: Path | None,
    limit: float,
    strict: bool,
) -> Status:
    """Run a machine, have its sandbox kernels trace, and write what they did and when.

    The machine runs as with `run`. Each core keeps its latest records in a ring in its sandbox's RAM, which is read when the machine stands, so
    also of a sandbox that was parked. One that began again has only what it did since.

    Tracing is switched on by the word trace=BYTES in front of `bootargs`; a partition file may have its own there.
    """
    require_drawn(plot_file, start_ms, span_ms, seconds)
    screen = Screen()
    platform = load_platform(platform_name)
    with screen.progress("preparing"):
        plan = judged_plan(platform, partition, screen, strict)
        require_valid(plan)
        at = chosen(plan, traced_at(platform, plan), wanted)
        plan = with_tracing(plan, at, ring_kib << 10)
        image = make_image(platform, plan)
    with Session(platform, plan, Machine(platform, image, timing_for(platform, plan))) as session:
        status = watch_until(session, Goal(session, seconds, False), Show(screen, session), screen, limit)
        now = session.machine.guest_seconds()
        session.machine.stop()
        for name, watch in session.watches.items():
            if watch.harmed and name in at:
                screen.warn(f"{name} did not come through; its trace ends there")
        found = [(one, timelines(one)) for one in traces_of(session.memory, plan, at)]
    if not any(ring.records for one, _ in found for ring in one.rings):
        raise BulkheadError(NOTHING)
    output.write_bytes(perfetto(found))
    shown = of_this_run(found, now, screen) if plot_file else []
    undrawn = draw(shown, plot_file, screen.report, start_ms, span_ms) if plot_file and shown else STRANGE
    if json_file:
        content = {"platform": platform.name, "sandboxes": [account(*one) for one in found]}
        write_json(json_file, "trace", content | warnings_json(plan), versions(platform))
    screen.summary(summary(found, ring_kib))
    if plot_file and undrawn:
        raise BulkheadError(f"{plot_file} was not drawn: {undrawn}; {output} was written", status or Status.FAILED)
    return status
