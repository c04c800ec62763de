# SPDX-License-Identifier: Apache-2.0
"""`bulkhead bench`: measures, shows tables, and says whether targets were met. docs/benchmarks.md explains the figures."""

import importlib
from pathlib import Path
from typing import Any

import click

from bhtool.bench.plot import draw, require_format
from bhtool.bench.result import Result, Row, comparison, spread, table
from bhtool.documents.results import store
from bhtool.errors import BulkheadError, Status
from bhtool.jsonfile import document, write
from bhtool.machine.emulated import require_emulator, versions
from bhtool.platforms import Platform, every, load, names
from bhtool.provision.needs import versions_of
from bhtool.terminal.screen import Screen
from bhtool.text import counted
from bhtool.verbs.options import Output

BENCHES = {
    "timer": "timer expiry to the handler's first instruction, in a sandbox and on the bare emulator",
    "boot": "reset to the first instruction of the last of four sandboxes",
    "restart": "1,000 restarts in a row of a small and of a larger sandbox, against the bound that `check` prints",
    "channel": "what messages between sandboxes cost at both ends, against Bao, and how long they take between VCPUs that have little time",
    "messages": "messages of a program in Linux: through a channel, by read and write and in place, against a socket pair between two of its programs",
    "samples": "a sample a millisecond from a sensor to Linux, for ten minutes of guest time, while the sandbox between them crashes every ten seconds",
    "sched": "what threads and VCPUs cost, in a sandbox and on the bare emulator, against the best peer; the kernel's size",
    "kicks": "a kick's way to a core that executes long instructions or exits all the time",
    "protections": "what each protection costs: memory loops of a native sandbox, Linux booting (minutes)",
    "traps": "every exit of a Linux boot by kind: no protection, all, all and devices blocked",
    "dma": "a stream of the IOMMU opened and closed, a page mapped and unmapped, and what a network card adds to a restart",
    "io": "a network and a disc of Linux, in a sandbox and alone on the bare emulator: throughput, instructions and exits (minutes)",
    "costs": "what an exit of each kind costs, as the sandbox sees it",
    "exits": "the same, and exits by reason: interrupts of a native sandbox, Linux booting, Linux under load (minutes)",
}


COUNTING = (
    "timer",
    "storm",
    "sched",
    "channel",
    "messages",
    "calibration",
    "boot",
    "restart",
    "protections",
    "costs",
    "dma",
)  # in instructions, which only QEMU counts exactly
ALONE = ("costs", "samples")  # only if asked for: another one measures it, too, or it takes a quarter of an hour
CARDS = 2  # that one Linux has: both ends of a cable


def is_measurable(name: str, platform: Platform) -> bool:
    if name == "kicks":
        return platform.backend == "svm" and platform.emulator.kind == "qemu"
    if name == "dma":
        return bool(platform.nics) and platform.emulator.kind == "qemu"
    if name == "io":
        return len(platform.nics) >= CARDS and bool(platform.discs)
    return name not in COUNTING or platform.emulator.kind == "qemu"


def why_not(name: str) -> str:
    """For a platform on which it is not measurable."""
    if name == "dma":
        return "dma needs a network card that masters the bus, which this platform has not"
    if name == "io":
        return f"io needs {CARDS} network cards and a disc, which this platform has not"
    if name == "kicks":
        late = "QEMU stops an ARM core thousands of instructions late, and Bochs has no log of instructions"
        return f"kicks are counted on qemu-svm alone: {late}; docs/benchmarks.md says more"
    return "the emulator of this platform does not count these instructions exactly; docs/benchmarks.md says which do"


def measure(name: str, platform: Platform, screen: Screen, **more: int) -> Result:
    """Runs the module bhtool.bench.NAME."""
    if not is_measurable(name, platform):
        raise BulkheadError(why_not(name), Status.USAGE)
    require_emulator(platform)
    with screen.progress(f"{name} on {platform.name}"):
        found = importlib.import_module(f"bhtool.bench.{name}").run(platform, screen.report, **more)
    assert isinstance(found, Result)
    return found


def as_document(result: Result) -> dict[str, Any]:
    return document("bench", result.as_dict(), versions_of("clang-19") | versions(load(result.platform)))


def measure_all(benches: list[str], platforms: list[Platform], screen: Screen, **more: int) -> tuple[list[Result], Status]:
    """One that cannot be measured does not keep the others from it; the gravest status counts."""
    results: list[Result] = []
    status = Status.GOOD
    for name in benches:
        done: list[Result] = []
        for platform in platforms if len(platforms) == 1 else [one for one in platforms if is_measurable(name, one)]:
            try:
                done.append(measure(name, platform, screen, **more))
            except BulkheadError as error:
                screen.complain(f"{name} on {platform.name}: {error}")
                status = max(status, error.status)
        if done:
            screen.summary(table(done[0]) if len(done) == 1 else comparison(done))
        results += done
    return results, status if all(result.good for result in results) else max(status, Status.FAILED)


def beside(result: Result, row: Row) -> str:
    """What is known of a figure besides: the facts of its name, or the best peer's, of which the benchmark's module tells."""
    peer_of = getattr(importlib.import_module(f"bhtool.bench.{result.bench}"), "peer_of", None)
    return result.facts.get(row.name) or (str(peer_of(row.name)) if peer_of else "")


def missed(results: list[Result]) -> list[str]:
    """Each figure that misses its target, with what it is, the target, and what is known besides."""
    found = [(result, row) for result in results for row in result.rows if row.met is False]
    return [
        f"{result.bench} on {result.platform} missed: {row.name}, {spread(row, row.unit)} {row.unit}"
        f" ({'; '.join(text for text in (f'target: {row.target}', beside(result, row)) if text)})"
        for result, row in found
    ]


def say_missed(results: list[Result], status: Status, screen: Screen) -> None:
    lines = missed(results)
    for line in lines:
        screen.complain(line)
    if lines:
        screen.complain(f"{counted(len(lines), 'figure')} missed, so the status is {int(status)}")


@click.command(epilog="  ".join(f"{name}: {what}." for name, what in BENCHES.items()))
@click.argument("name", required=False, type=click.Choice(list(BENCHES)))
@click.option("--platform", "platform_name", type=click.Choice(names()), help="Only this machine; default: all.")
@click.option("--storm", is_flag=True, help="With timer: while the sandbox does nothing but exit.")
@click.option("--calibrate", is_flag=True, help="With channel: only the costs that predictions take.")
@click.option("--trials", type=click.IntRange(2, 100_000), help="With channel: exchanges of each size; default: 20.")
@click.option("--seconds", type=click.IntRange(10, 100_000), help="With samples: of guest time; default: 600, 180 on Bochs.")
@click.option("--json", "json_file", type=Output(), help="Write the figures as JSON.")
@click.option("--store", "keep", is_flag=True, help="Keep the figures in docs/results, with their commit, for `figures`.")
@click.option("--plot", "plot_file", type=Output(), help="Draw them: .svg, .png or .pdf.")
def bench(
    name: str | None,
    platform_name: str | None,
    storm: bool,
    calibrate: bool,
    trials: int | None,
    seconds: int | None,
    json_file: Path | None,
    keep: bool,
    plot_file: Path | None,
) -> Status:
    """Measure interrupt paths, start-up and exits; without NAME everything.

    Figures with a target are judged. Those that miss it are named at the end, with the target and the best peer's figure where one is known, and the status is 1.
    """
    if storm and name != "timer":
        raise click.UsageError("--storm goes with timer")
    if (calibrate or trials) and (name != "channel" or (calibrate and trials)):
        raise click.UsageError("--calibrate or --trials goes with channel")
    if seconds and name != "samples":
        raise click.UsageError("--seconds goes with samples")
    if plot_file:
        require_format(plot_file)
    screen = Screen()
    benches = ["storm" if storm else "calibration" if calibrate else name] if name else [one for one in BENCHES if one not in ALONE]
    platforms = [load(platform_name)] if platform_name else every()
    results, status = measure_all(
        benches, platforms, screen, **{name: count for name, count in (("trials", trials), ("seconds", seconds)) if count}
    )
    documents = [as_document(result) for result in results]
    if json_file and documents:
        write(json_file, documents[0] if name and platform_name else documents)
    for result, one in zip(results if keep else [], documents, strict=False):
        store(result.bench, result.platform, one)
    if plot_file and results:
        with screen.progress(f"drawing {plot_file}"):
            draw(results, plot_file, screen.report)
    say_missed(results, status, screen)
    return status
