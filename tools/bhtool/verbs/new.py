# SPDX-License-Identifier: Apache-2.0
"""`bulkhead new`: a folder to begin with."""

from pathlib import Path

import click
from click.core import ParameterSource

from bhtool.delivery.new import PARTITION, TEMPLATES, files_of, write_new
from bhtool.delivery.sdk import announce
from bhtool.errors import Status
from bhtool.paths import PROGRAM
from bhtool.platforms import DEFAULT, load, names
from bhtool.terminal.screen import Screen


@click.command(epilog="Templates: " + "; ".join(f"{name}: {text}" for name, (text, _) in TEMPLATES.items()) + ".")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--template", type=click.Choice(list(TEMPLATES)), default="linux", show_default=True, help="What the machine is to run.")
@click.option(
    "--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="Whose board an editor shows."
)
def new(folder: Path, template: str, platform_name: str) -> Status:
    """Write a partition file to begin with, and settings for editors."""
    screen = Screen()
    platform = load(platform_name)
    files_of(folder, template, platform)  # refused before anything is said
    if template == "guest":
        announce(screen.report)
    with screen.progress("writing"):
        written = write_new(folder, template, platform, screen.report)
    is_chosen = click.get_current_context().get_parameter_source("template") is not ParameterSource.DEFAULT
    others = [] if is_chosen else [f"other templates: {', '.join(name for name in TEMPLATES if name != template)}; --help tells of them"]
    steps = [f"make -C {folder}"] if template == "guest" else []
    steps += [f"{PROGRAM} check {folder / PARTITION}", f"{PROGRAM} run --partition {folder / PARTITION}"]
    screen.summary("\n".join([f"{folder}: {', '.join(sorted(written))}", "next:", *(f"  {step}" for step in steps), *others]))
    return Status.GOOD
