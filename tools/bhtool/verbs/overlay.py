# SPDX-License-Identifier: Apache-2.0
"""`bulkhead overlay`: tells the build of somebody else's kernel what its sandbox has."""

from pathlib import Path

import click

from bhtool.errors import BulkheadError, Status
from bhtool.overlay.facts import facts_of
from bhtool.overlay.forms import FORMS, Form
from bhtool.platforms import DEFAULT, load, names
from bhtool.terminal.screen import Screen
from bhtool.verbs.options import Output, strict_option

SIGNATURE = b"Written by `bulkhead overlay`"  # in each template


def files_of(form: Form, sandbox: str, output: Path | None) -> list[Path]:
    """The first as it is named, the others beside it."""
    first = output or Path(f"{sandbox}{form.suffixes[0]}")
    files = [first, *(first.with_suffix(suffix) for suffix in form.suffixes[1:])]
    if len(set(files)) < len(files):
        raise BulkheadError(f"{first} would be overwritten by its companion; name it {first.with_suffix(form.suffixes[0])}", Status.USAGE)
    return files


def require_own(files: list[Path]) -> None:
    """What `overlay` wrote may be written anew; nobody else's file is lost."""
    for file in files:
        if file.exists() and SIGNATURE not in file.read_bytes():
            raise BulkheadError(f"{file} is there and was not written by `bulkhead overlay`; choose another with -o", Status.USAGE)


@click.command(epilog="Kernels: " + "; ".join(f"{name}: {form.what}" for name, form in FORMS.items()) + ".")
@click.argument("partition", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("sandbox")
@click.option("--for", "kernel", type=click.Choice(list(FORMS)), required=True, help="Whose build is to be told.")
@click.option("--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="On which machine.")
@click.option("-o", "--output", type=Output(), help="The (first) file to write; default: SANDBOX with its suffix, here.")
@strict_option
def overlay(partition: Path, sandbox: str, kernel: str, platform_name: str, output: Path | None, strict: bool) -> Status:
    """Write what the build of a kernel has to know of its sandbox."""
    screen, form = Screen(), FORMS[kernel]
    facts = facts_of(partition, load(platform_name), sandbox, screen, strict)
    files = files_of(form, sandbox, output)
    require_own(files)
    for file, text in zip(files, form.write(facts), strict=True):
        file.write_text(text, encoding="utf-8")
        screen.out.print(f"wrote {file}")
    screen.out.print(f"next: {form.next_step(files)}")
    return Status.GOOD
