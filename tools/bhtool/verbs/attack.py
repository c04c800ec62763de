# SPDX-License-Identifier: Apache-2.0
"""`bulkhead attack`: two hostile sandboxes try everything, two others keep watch. docs/attack.md explains classes and figures."""

from pathlib import Path

import click
from rich.table import Table

from bhtool.attack import transfer_requests, transfers
from bhtool.attack.campaign import Campaign, run_campaign
from bhtool.attack.generator import CLASSES, classes_of
from bhtool.attack.kind import BY_CARDS, BY_PROCESSORS
from bhtool.attack.stage import require_cards
from bhtool.errors import BulkheadError, Status
from bhtool.image.build import build_platform
from bhtool.jsonfile import write_json
from bhtool.machine.emulated import require_emulator, versions
from bhtool.machine.launch import Timing
from bhtool.platforms import DEFAULT, load, names
from bhtool.terminal.screen import Screen, table_of
from bhtool.text import counted
from bhtool.verbs.options import Output

SHOWN_ESCAPES = 20
MOST = 10_000_000  # attempts: all up to the last are drawn before the first is made
LEGEND = (
    "stopped: never came back, its monitor ended it or it brought itself to a stop; refused: an exception in the sandbox;\n"
    "returned, zero, ones: came back with some value, with 0, with all ones. What counts as an escape depends on the attempt: docs/attack.md"
)
CARDS_LEGEND = (
    "emulator-open: not made, as the emulator is known to let them through; after each state: attempts at the first bytes of a page / at its last bytes / over its end.\n"
    "Escapes that were only seen from outside are named below, and count for no class: docs/attack.md"
)
GROUPS = sorted({one.name for classes in CLASSES.values() for one in classes} | {one.name for one in transfers.CLASSES})
PROTECTIONS = ("memory", "io", "msr", "ipi", "irq", "abort", "dma")


def by_outcome(result: Campaign) -> Table:
    outcomes = ("stopped", "refused", "returned", "zero", "ones")
    table = table_of(f"Attempts by class on {result.platform.name}, seed {result.seed}", "class", "tried", *outcomes)
    table.caption = LEGEND
    for name, counter in sorted(result.by_class.items()):
        table.add_row(name, str(counter.total()), *(str(counter[one]) for one in outcomes))
    return table


def by_cell(result: Campaign) -> Table:
    states = [state.name for state in transfer_requests.STATES if any(cell[2] == state.name for cell in result.coverage)]
    title = f"Attempts of network cards by class on {result.platform.name}, seed {result.seed}"
    table = table_of(title, "class", "tried", "contained", "escaped", "emulator-open", *states)
    table.caption = CARDS_LEGEND
    for one in transfers.CLASSES:
        if one.name in result.by_class:
            tried, escapes = result.by_class[one.name].total(), result.escaped(one.name)
            cells = ["/".join(str(result.coverage[one.name, edge, state]) for edge in transfers.EDGES) for state in states]
            table.add_row(one.name, str(tried), str(tried - escapes), str(escapes), str(result.emulator_open_by_class[one.name]), *cells)
    return table


def show(result: Campaign, unprotected: tuple[str, ...], screen: Screen) -> None:
    screen.summary(by_cell(result) if result.coverage else by_outcome(result))
    for escape in result.escapes[:SHOWN_ESCAPES]:
        screen.complain(f"escape: {escape}")
        if escape.request:
            options = ["--seed", str(result.seed), "--only", str(escape.request.number), *(["--dma"] if result.coverage else [])]
            for one in unprotected:
                options += ["--without", one]
            screen.complain(f"repeat it alone: tools/bulkhead attack --platform {result.platform.name} {' '.join(options)}")
    verdict = (
        f"{counted(result.attempts, 'attempt')} on {counted(result.machines, 'machine')}, {counted(len(result.escapes), 'escape')},"
        f" {counted(result.words_changed, 'word')} changed"
    )
    screen.say(f"{verdict}, {result.heartbeats_lost:,} of {counted(result.heartbeats, 'heartbeat')} lost; digest {result.digest()}")


@click.command()
@click.option("--platform", "platform_name", type=click.Choice(names()), default=DEFAULT, show_default=True, help="Which machine.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Decides every attempt.")
@click.option("--attempts", type=click.IntRange(1, MOST), default=5000, show_default=True, help="How many, of all classes together.")
@click.option(
    "--class", "group", type=click.Choice(GROUPS), metavar="CLASS", help="Make those of this class alone: docs/attack.md lists them."
)
@click.option("--dma", is_flag=True, help="Attack by network cards that master the bus, not by processors.")
@click.option("--only", type=click.IntRange(0, MOST), metavar="NUMBER", help="Repeat this attempt of the seed alone.")
@click.option(
    "--without", "unprotected", multiple=True, type=click.Choice(PROTECTIONS), help="Switch this protection of the hostile sandboxes off."
)
@click.option("--json", "json_file", type=Output(), help="Write the result as JSON.")
def attack(
    platform_name: str,
    seed: int,
    attempts: int,
    group: str | None,
    dma: bool,
    only: int | None,
    unprotected: tuple[str, ...],
    json_file: Path | None,
) -> Status:
    """Try everything a hostile sandbox can, at random, while two others keep watch.

    It fails, with status 1, if anything got through.
    """
    screen = Screen()
    platform = load(platform_name)
    known = [one.name for one in (transfers.CLASSES if dma else classes_of(platform.arch))]
    require_emulator(platform)
    if group and group not in known:
        raise BulkheadError(f"on {platform.name} there is no class {group}: take one of {', '.join(known)}", Status.USAGE)
    if dma:
        require_cards(platform)
    elif "dma" in unprotected:
        raise BulkheadError(
            "--without dma goes with --dma: processors' campaigns have no function that masters the bus; add --dma", Status.USAGE
        )
    with screen.progress("preparing"):
        build_platform(platform, screen.report)
    with screen.progress(f"attacking on {platform.name}"):
        timing = Timing(platform.emulator.icount_shift)
        tenth = 0

        def progress(result: Campaign, begun: int) -> None:
            nonlocal tenth
            made = result.attempts + begun
            text = f"{made:,} of {counted(result.asked, 'attempt')}, {counted(result.machines, 'machine')}, {counted(len(result.escapes), 'escape')}"
            if made * 10 // result.asked > tenth:  # worth a line where there is no terminal
                tenth = made * 10 // result.asked
                screen.report(text)
            else:
                screen.update(text)

        result = run_campaign(
            platform,
            timing,
            seed,
            attempts,
            screen.update,
            progress,
            only=only,
            unprotected=unprotected,
            group=group,
            kind=BY_CARDS if dma else BY_PROCESSORS,
        )
    show(result, unprotected, screen)
    if json_file:
        write_json(json_file, "attack", result.as_dict(), versions(platform))
    return Status.GOOD if result.good else Status.FAILED
