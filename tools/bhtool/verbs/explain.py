# SPDX-License-Identifier: Apache-2.0
"""`bulkhead explain`: what a code means that the tool or a monitor has shown, and what to do about it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator

import click
from rich.text import Text

from bhtool.codes.catalogue import catalogue, find, range_of, similar
from bhtool.codes.entry import Entry, number_text
from bhtool.errors import BulkheadError, Status
from bhtool.terminal.screen import Screen, table_of

INDENT, WIDEST = 2, 100


def described(one: Entry, width: int) -> Iterator[str]:
    """Lines; the title first, and examples as they are."""
    yield one.title
    yield from wrapped(one.means, width)
    for heading, listed in (("Typical causes:", one.causes), ("What to do:", one.remedies)):
        if listed:
            yield from ("", f"{' ' * INDENT}{heading}")
            for text in listed:
                yield from wrapped(text, width, "- ")
    if one.example:
        yield from ("", f"{' ' * INDENT}Example:")
        yield from textwrap.indent(one.example.expandtabs(4), " " * 2 * INDENT).splitlines()


def wrapped(text: str, width: int, mark: str = "") -> list[str]:
    first = " " * INDENT + mark
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=" " * len(first), break_long_words=False, break_on_hyphens=False
    )


def show(screen: Screen, one: Entry) -> None:
    title, *lines = described(one, min(screen.out.width, WIDEST))
    screen.say(Text(title, "bold"))
    for line in lines:
        screen.say(line)


def show_all(screen: Screen) -> None:
    """Every code there is, by kind, with its first sentence; before the tables, which are long, what kinds there are."""
    kinds = Counter(one.kind for one in catalogue())
    screen.say(
        f"Codes there are: {', '.join(f'{kind} ({count})' for kind, count in kinds.items())}. `tools/bulkhead explain CODE` says more of one."
    )
    for kind in dict.fromkeys(one.kind for one in catalogue()):
        table = table_of(f"{kind[0].upper()}{kind[1:]}", "code", "means")
        for one in catalogue():
            if one.kind == kind:
                number = "" if one.number is None or str(one.number) in one.name else f" ({number_text(one.number)})"
                table.add_row(one.name + number, one.means.partition(". ")[0].rstrip("."))
        screen.summary(table)


def unknown(code: str) -> BulkheadError:
    near = similar(code)
    hint = range_of(code) or (
        f"did you mean {' or '.join(near)}?" if near else "`tools/bulkhead explain` without a code lists all there are"
    )
    return BulkheadError(f"there is no code {code!r}; {hint}", Status.FAILED)


@click.command(context_settings={"ignore_unknown_options": True})  # -2 is a code
@click.argument("codes", nargs=-1, metavar="[CODE]...", type=click.UNPROCESSED)
def explain(codes: tuple[str, ...]) -> Status:
    """Say what CODE means, what causes it and what to do; without a code, list all there are.

    \b
    A rule or warning of check    BH-R047, R047, BH-W020
    An invariant                  BH-I1.memory
    An assumption                 BH-A02
    A crash or exit reason        memory, hang, 14
    A state of a sandbox          PARKED, off
    A hypercall or its result     0xc6000003, KICK, -2, DENIED
    An exit status of a command   "status 3", 4
    A property, a node, a kind    deadline-us, channel, VCPU, mailbox
    """
    screen = Screen()
    wanted = (" ".join(codes),) if codes[:1] == ("status",) else codes
    found = [one for code in wanted for one in found_or_refused(code)]
    for n, one in enumerate(found):
        if n:
            screen.say("")
        show(screen, one)
    if not wanted:
        show_all(screen)
    return Status.GOOD


def found_or_refused(code: str) -> list[Entry]:
    found = find(code)
    if not found:
        raise unknown(code)
    return found
