# SPDX-License-Identifier: Apache-2.0
"""`bulkhead faults`: flips bits in a machine that runs and says what became of each. docs/faults.md explains classes and figures."""

import os
from pathlib import Path

import click
from rich.table import Table

from bhtool.documents.results import store
from bhtool.errors import Status
from bhtool.faults.series import DISTURBING, Series, run_series
from bhtool.faults.verdict import Outcome
from bhtool.image.build import build_platform
from bhtool.jsonfile import document, write
from bhtool.machine.emulated import require_emulator, versions
from bhtool.platforms import DEFAULT, load, names
from bhtool.provision.needs import versions_of
from bhtool.terminal.screen import Screen, table_of
from bhtool.text import counted
from bhtool.verbs.options import Output

MOST = 1_000_000
SHOWN = 20
LEGEND = (
    "silent: nothing differs, of which stays: the bit is still flipped at the end; contained: the victim is disturbed, nobody else;\n"
    "detected: its monitor, or who kicks it, was told; propagated: another sandbox is disturbed; machine: everybody stopped;\n"
    "monitor: the victim's monitor failed; oracle: a table that the oracle would name. docs/faults.md says more"
)


def result_table(result: Series) -> Table:
    columns = ("region", "faults", *(one.value for one in Outcome), "stays", "monitor", "oracle")
    table = table_of(f"Faults on {result.platform.name}, seed {result.seed}", *columns)
    table.caption = LEGEND
    for row in result.rows():
        counts = [row[one.value] for one in Outcome]
        table.add_row(
            row["region"], *map(str, (row["faults"], *counts, row["silent_and_stays"], row["monitor_failed"], row["oracle_names"]))
        )
    return table


def show(result: Series, screen: Screen) -> None:
    screen.summary(result_table(result))
    for one in result.disturbing()[:SHOWN]:
        screen.complain(f"{one.verdict.outcome.value}: {one.fault}: {one.verdict.why}")
        again = f"--platform {result.platform.name} --seed {result.seed} --only {one.fault.number}"
        screen.complain(f"repeat it alone: tools/bulkhead faults {again}")
    if len(result.found) == 1:
        (one,) = result.found
        screen.say(f"{one.fault}: {one.verdict.outcome.value} {one.verdict.why}".rstrip())
    for one in result.out_voted()[:SHOWN]:
        (why,) = {it.why for it in one.out_voted if it.outcome in DISTURBING}
        screen.say(f"out-voted, two of three tries disturbed nobody: {one.fault}: {why}")
    screen.say(
        f"{counted(len(result.found), 'fault')} on {counted(result.machines, 'machine')}, {len(result.disturbing())} disturbed others, {len(result.out_voted())} more were out-voted"
    )


@click.command()
@click.option("--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="Which machine.")
@click.option("--count", type=click.IntRange(1, MOST), default=100, show_default=True, help="How many, regions taking turns.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Decides every fault.")
@click.option("--only", type=click.IntRange(0, MOST), metavar="NUMBER", help="Repeat this fault of the seed alone.")
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=os.cpu_count() or 1, help="Machines at a time; default: one for each processor."
)
@click.option("--json", "json_file", type=Output(), help="Write the result as JSON.")
@click.option("--store", "keep", is_flag=True, help="Keep the figures in docs/results, with their commit, for `figures`.")
def faults(platform_name: str, count: int, seed: int, only: int | None, jobs: int, json_file: Path | None, keep: bool) -> Status:
    """Flip bits in a victim, its monitor, its tables and its registers while it runs, and see whom that disturbs.

    It fails, with status 1, if a fault of what is the victim's own disturbed another sandbox.
    """
    if keep and only is not None:
        raise click.UsageError("--store keeps the figures of a series, and --only is one fault")
    screen = Screen()
    platform = load(platform_name)
    require_emulator(platform)
    with screen.progress("preparing"):
        build_platform(platform, screen.report)
    with screen.progress(f"flipping bits on {platform.name}"):
        tenth = 0

        def progress(result: Series, wanted: int) -> None:
            nonlocal tenth
            done = len(result.found)
            text = f"{done:,} of {counted(wanted, 'fault')}, {len(result.disturbing())} disturbed others"
            if done * 10 // wanted > tenth:  # worth a line where there is no terminal
                tenth = done * 10 // wanted
                screen.report(text)
            else:
                screen.update(text)

        numbers = range(count) if only is None else range(only, only + 1)
        result = run_series(platform, seed, numbers, jobs, screen.update, progress)
    show(result, screen)
    whole = document("faults", result.as_dict(), versions_of("clang-19") | versions(platform))
    if json_file:
        write(json_file, whole)
    if keep:
        store("faults", platform.name, {name: value for name, value in whole.items() if name != "found"})
    return Status.GOOD if result.good() else Status.FAILED
