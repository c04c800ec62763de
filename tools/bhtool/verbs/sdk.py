# SPDX-License-Identifier: Apache-2.0
"""`bulkhead sdk`: what guests that are built elsewhere need, in one folder."""

from pathlib import Path

import click

from bhtool.delivery.sdk import announce, refuse_foreign, write_sdk
from bhtool.errors import Status
from bhtool.terminal.screen import Screen


@click.command()
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder to write; an older SDK is replaced."
)
def sdk(output: Path) -> Status:
    """Write headers, libraries, pkg-config files and an example for guests that are built elsewhere."""
    screen = Screen()
    refuse_foreign(output)  # before anything is said
    announce(screen.report)
    with screen.progress("building"):
        write_sdk(output, screen.report)
    screen.summary(f"{output}: include/, lib/ and, to begin with, example/ (cd {output}/example && make)")
    return Status.GOOD
