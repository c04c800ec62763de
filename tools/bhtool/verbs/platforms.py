# SPDX-License-Identifier: Apache-2.0
"""`bulkhead platforms`: the machines, what each proves, cannot show and needs."""

from pathlib import Path

import click
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bhtool import paths
from bhtool.jsonfile import write_json
from bhtool.machine.emulated import requirement
from bhtool.platforms import DEFAULT, Platform, load, names
from bhtool.terminal.screen import Screen
from bhtool.verbs.options import Output


def as_dict(platform: Platform) -> dict[str, str]:
    needed = requirement(platform)
    facts = {"name": platform.name, "title": platform.title, "arch": platform.arch, "backend": platform.backend}
    facts |= {"second_opinion_on": platform.second_opinion_on}
    return facts | {
        "proves": platform.proves,
        "cannot": platform.cannot,
        "needs": paths.named(needed.text),
        "here": paths.named(needed.lacking) or "ready",
        "connects": ", ".join(f"{one.name} ({one.model.partition(',')[0]})" for one in (*platform.nics, *platform.discs, *platform.cans)),
    }


def show(screen: Screen, platform: Platform, facts: dict[str, str]) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for label, key in (("proves", "proves"), ("cannot show", "cannot"), ("needs", "needs"), ("here", "here"), ("connects", "connects")):
        if facts[key]:
            table.add_row(label, facts[key])
    note = " (default)" if platform.name == DEFAULT else ""
    if platform.second_opinion_on:
        note = f" (second opinion on {platform.second_opinion_on})"
    screen.say(Text(platform.name, "bold") + Text(f"{note}: {platform.title}"))
    screen.summary(Padding(table, (0, 0, 1, 2)))


@click.command()
@click.option("--json", "json_file", type=Output(), help="Write the same as JSON.")
def platforms(json_file: Path | None) -> None:
    """Show which machines there are and what each proves."""
    known = [load(name) for name in names()]
    screen = Screen()
    with screen.progress("asking each emulator for its version"):
        facts = [as_dict(platform) for platform in known]
    for platform, its in zip(known, facts, strict=True):
        show(screen, platform, its)
    if json_file:
        write_json(json_file, "platforms", {"platforms": facts})
