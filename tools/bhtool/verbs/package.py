# SPDX-License-Identifier: Apache-2.0
"""`bulkhead package`: the command for machines that have no clone."""

from pathlib import Path

import click

from bhtool.delivery.package import FORMATS, collect
from bhtool.errors import Status
from bhtool.terminal.screen import Screen


@click.command()
@click.option("--format", "form", type=click.Choice(list(FORMATS)), required=True, help="For pip, or for apt.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="The folder to write to; default: this one."
)
def package(form: str, output: Path) -> Status:
    """Pack the command, with the monitors built, for machines that have no clone.

    The package runs, checks and writes images for every platform. What builds or measures the monitor itself (test, bench, size, attack, oracle) needs the clone.
    """
    screen = Screen()
    with screen.progress("building"):
        tree = collect(screen.report)
        screen.report("packing")
        output.mkdir(parents=True, exist_ok=True)
        path = FORMATS[form](tree, output)
    screen.summary(f"{path}: {path.stat().st_size / (1 << 20):.1f} MiB")
    return Status.GOOD
