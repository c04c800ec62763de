# SPDX-License-Identifier: Apache-2.0
"""docs/commands.md: what every verb's --help says, for readers, and for --help where nothing is installed yet.

python -m bhtool.commands > docs/commands.md        (with tools/ in PYTHONPATH)
"""

import click

from bhtool.cli import bulkhead
from bhtool.paths import PROGRAM
from bhtool.verbs import VERBS

HEAD = """# Commands

What `tools/bulkhead --help` and `tools/bulkhead VERB --help` say. This page is made from the tool itself (`tools/bhtool/commands.py`); the launcher shows its parts
as long as nothing is installed.
"""
WIDTH = 88


def help_of(verb: str) -> str:
    """Of one verb; of the whole for an empty name."""
    whole = click.Context(bulkhead, info_name=PROGRAM, max_content_width=WIDTH, terminal_width=WIDTH, **bulkhead.context_settings)
    command = bulkhead.get_command(whole, verb) if verb else bulkhead
    assert command is not None
    context = click.Context(command, info_name=verb, parent=whole, max_content_width=WIDTH, terminal_width=WIDTH) if verb else whole
    return command.get_help(context)


def render() -> str:
    parts = [HEAD]
    for verb in ("", *VERBS):
        parts += [f"## {PROGRAM}{verb and ' '}{verb}", "", "```", help_of(verb), "```", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    print(render(), end="")
