# SPDX-License-Identifier: Apache-2.0
"""The verbs, and how every one of them ends."""

import functools
import importlib
import io
import sys
from typing import NoReturn

import click

from bhtool import paths
from bhtool.children import end_in_order
from bhtool.errors import BulkheadError, Status
from bhtool.system_errors import UNFORESEEN, as_refusal
from bhtool.terminal.screen import Screen
from bhtool.text import did_you_mean, visible_lines
from bhtool.verbs import COMPLETE, EXAMPLES, SOURCE_VERBS, VERBS
from bhtool.versions import version_text

HELP = {"help_option_names": ["-h", "--help"]}


@functools.cache
def loaded(verb: str) -> click.Command:
    """A verb's command, with its examples."""
    command = getattr(importlib.import_module(f"bhtool.verbs.{verb}"), verb)
    assert isinstance(command, click.Command)
    command.context_settings = {**HELP, **command.context_settings}  # also where it is called without the group
    for parameter in command.params:
        if isinstance(parameter.type, click.Choice):
            parameter.type = NearChoice(parameter.type.choices)
    command.epilog = "\n\n".join(filter(None, (command.epilog, examples(verb))))
    return command


class NearChoice(click.Choice[str]):
    """A choice that says which one was meant."""

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        *others, last = map(str, self.choices)
        return f"Give {', '.join(others)} or {last}." if others else f"Give {last}."

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        return super().get_invalid_choice_message(value, ctx).rstrip(".") + did_you_mean(str(value), self.choices, quote="'")


class Verbs(click.Group):
    """Loads a verb's module, bhtool.verbs.VERB, only when it is asked for: not all work before everything is set up."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [verb for verb in VERBS if not (paths.IS_PACKAGE and verb in SOURCE_VERBS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        return loaded(cmd_name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in VERBS and not ctx.resilient_parsing:
            hint = did_you_mean(args[0], VERBS)
            raise click.UsageError(f"there is no verb `{args[0]}`{hint}; `tools/bulkhead --help` lists them", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, VERBS[verb]) for verb in self.list_commands(ctx)])


def examples(verb: str) -> str:
    """A paragraph that click leaves in lines."""
    lines = [f"  {paths.PROGRAM} {line}" for line in EXAMPLES.get(verb, ())]
    return "\n".join(("\b", "Examples:", *lines)) if lines else ""


@click.group(cls=Verbs, context_settings=HELP, epilog=examples(""))
@click.version_option(message=version_text(), prog_name="bulkhead")
def bulkhead() -> None:
    """Splits one multicore machine into sandboxes: configure, build, run and test it.

    What is missing is installed first. Every verb takes --yes: do not ask before sudo.
    """


def main() -> NoReturn:
    """Runs the verb and exits with a status of the contract (errors.Status)."""
    end_in_order()
    try:
        status = bulkhead.main(prog_name=paths.PROGRAM, complete_var=COMPLETE, standalone_mode=False)
    except BulkheadError as error:
        Screen().complain(str(error))
        status = error.status
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        sys.stderr.write(paths.named(visible_lines(said.getvalue())))
        status = Status.USAGE
    except UNFORESEEN as error:
        refused = as_refusal(error)
        Screen().complain(str(refused))
        status = refused.status
    except (KeyboardInterrupt, click.Abort):
        status = Status.INTERRUPTED
    sys.exit(int(status or 0))
