# SPDX-License-Identifier: Apache-2.0
"""`bulkhead headers`: channels as constants for C and Python."""

from pathlib import Path

import click

from bhtool.errors import BulkheadError, Status
from bhtool.overlay.channel_names import files_of
from bhtool.overlay.facts import surveyed
from bhtool.platforms import DEFAULT, load, names
from bhtool.terminal.screen import Screen
from bhtool.verbs.options import strict_option

SIGNATURE = b"Written by `bulkhead headers`"  # in each template


@click.command()
@click.argument("partition", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="On which machine.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False, writable=True),
    default=Path(),
    help="The folder to write them to, made if it is not there; default: this one.",
)
@strict_option
def headers(partition: Path, platform_name: str, folder: Path, strict: bool) -> Status:
    """Write what each sandbox's channels are as constants: names, kinds, numbers, sizes.

    A C header and a Python module for each sandbox that has any, SANDBOX_channels.h and SANDBOX_channels.py. A name that is misspelt does not compile
    in C; in Python its import fails.
    """
    screen = Screen()
    plan, _ = surveyed(partition, load(platform_name), screen, strict)
    files = files_of(plan, folder)
    for file in files:
        if file.exists() and SIGNATURE not in file.read_bytes():
            raise BulkheadError(f"{file} is there and was not written by `bulkhead headers`; choose another folder with -o", Status.USAGE)
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        file.write_text(text, encoding="utf-8")
        screen.out.print(f"wrote {file}")
    return Status.GOOD
