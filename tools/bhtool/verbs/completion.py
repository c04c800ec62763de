# SPDX-License-Identifier: Apache-2.0
"""`bulkhead completion`: the lines that make a shell complete verbs, options, platforms and files."""

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from bhtool.verbs import COMPLETE

SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what makes SHELL complete this command.

    \b
    bash: source <(tools/bulkhead completion bash)         also in ~/.bashrc
    zsh:  source <(tools/bulkhead completion zsh)          after compinit
    fish: tools/bulkhead completion fish | source
    """
    script = SHELLS[shell](ctx.find_root().command, {}, "bulkhead", COMPLETE)
    click.echo(script.source_template % script.source_vars())
