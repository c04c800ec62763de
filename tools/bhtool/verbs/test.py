# SPDX-License-Identifier: Apache-2.0
"""`bulkhead test`: unit tests on this machine, tests in emulated machines, and one line that says how they went."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.evidence import claims, join, results
from bhtool.evidence.requirements import load as load_requirements
from bhtool.evidence.static import complaints
from bhtool.image.build import build_host, build_platform
from bhtool.image.names import Resolver
from bhtool.machine.emulated import versions
from bhtool.platforms import Platform, every, load, names
from bhtool.provision.needs import versions_of
from bhtool.terminal.screen import Screen
from bhtool.testing import cost, result
from bhtool.testing.change import LONG_RESULT
from bhtool.testing.selection import SHARES, Selection, has_time, of_touched, share_of_commit
from bhtool.testing.steps import SHOWN, run_meson, run_pytest
from bhtool.testing.tally import Tally
from bhtool.verbs.options import Output

TESTS = paths.ROOT / "tests"
UNIT_FOLDERS = [TESTS / name for name in ("structure", "image", "config", "tool", "oracle")]
MUTATIONS = TESTS / "mutation"
LEFT_FILE = paths.BUILD / "left-to-long.txt"
EMULATED_FOLDERS = [TESTS / name for name in ("emulated", "mutation")]
CLAIMS = paths.BUILD / "claims.json"
FOLDERS = {"unit": UNIT_FOLDERS, "emulated": EMULATED_FOLDERS, "all": [*UNIT_FOLDERS, *EMULATED_FOLDERS]}


def prepare(platforms: list[Platform], screen: Screen) -> Path:
    """Builds everything and fetches what Linux sandboxes run; the unit tests' build directory."""
    with screen.progress("building"):
        host = build_host(screen.report)
        for platform in platforms:
            build_platform(platform, screen.report)
            resolve = Resolver(platform, paths.PARTITIONS / "mixed.dts", screen.report)
            for name in ("vmlinuz", "rootfs.cpio.gz"):
                resolve(name)
    return host


def worker_count(processors: int) -> int:
    """Half as many again: tests wait for polls and for machines that sleep, and left a third of two processors idle."""
    return processors + processors // 2


def share_named(text: str | None) -> int | None:
    return share_of_commit() if text == "auto" else int(text) if text else None


def select(quick: bool, everything: bool, share: str | None, platform: str | None, word: str | None) -> Selection:
    if [quick, everything, share is not None].count(True) > 1:
        raise BulkheadError("--quick, --long and --share exclude each other", Status.USAGE)
    return Selection(quick, everything, share_named(share), platform=platform, word=word)


def run_touched(selection: Selection, tally: Tally, workers: int, started: float) -> str:
    """Long tests that the change touches, as long as there is time; how many they were."""
    before = tally.passed + len(tally.failed)
    touched = of_touched(selection, time.monotonic() - started)
    run_pytest([MUTATIONS], touched, tally, workers if has_time(touched) else 1)
    LEFT_FILE.write_text("".join(f"{name}\n" for name in tally.left), encoding="utf-8")
    ran = tally.passed + len(tally.failed) - before
    return f"of long tests that the change touches: {ran} ran, {len(tally.left)} left to --long: {LEFT_FILE.relative_to(paths.ROOT)}"


def describe(selection: Selection) -> str:
    """Which of the long tests ran."""
    if selection.long:
        return "long tests: all"
    if selection.share is not None:
        return f"long tests: share {selection.share} of {SHARES}; all: --long"
    return "long tests: none; all: --long"


def store(tally: Tally, commit: str, started: float) -> str:
    """Keeps the result of a whole run; says where, or why not."""
    if not commit or commit != result.clean_commit():
        return "the result is not stored: the sources are no commit"
    depends = versions_of("clang-19")
    for platform in map(load, names()):
        depends |= versions(platform)
    result.store(result.result_of(tally, commit, cost.used_so_far(), time.monotonic() - started, depends))
    return f"the result is stored in {LONG_RESULT.relative_to(paths.ROOT)}"


def keep(tally: Tally, commit: str, which: str) -> list[str]:
    """Keeps how each test went; of a run of everything, says what that comes to."""
    if not commit or commit != result.clean_commit():
        return ["how tests went is not kept: the sources are no commit"]
    known = results.store(commit, tally.results)
    kept = f"how tests went is kept in {results.file_of(commit).relative_to(paths.ROOT)}"
    if which != "all" or not CLAIMS.exists():
        return [kept]
    return [kept, join.summary(join.join(load_requirements(), [*claims.in_c(), *claims.read(CLAIMS)], known))]


def is_of_everything(which: str, selection: Selection) -> bool:
    """Whether each requirement must be shown: long tests apart, nothing was left out."""
    return which == "all" and not (selection.quick or selection.platform or selection.word)


@contextmanager
def children_see(name: str, value: str) -> Iterator[None]:
    """In the environment of what runs meanwhile; afterwards that is as it was, also in a process that goes on."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def not_shown(tally: Tally, selection: Selection) -> list[str]:
    """What this run, by itself, does not show; and requirements and tests that do not fit. What long tests alone show is left to `--long`."""
    catalogue, stated = load_requirements(), [*claims.in_c(), *claims.read(CLAIMS)]
    ran = results.merged(results.Results("", {}), tally.results)
    return [*complaints(catalogue, stated), *join.wanting(join.join(catalogue, stated, ran, selection.long))]


def conclude(tally: Tally, ran: list[str], strict: bool, screen: Screen) -> Status:
    for line in cost.report(tally.costs, cost.used_so_far()):
        screen.say(line)
    for kind, found in (("failed", tally.failed), ("skipped", tally.skipped)):
        for name in found:
            screen.say(f"{kind}: {name}")
    for line in ran:
        screen.say(line)
    screen.say(tally.last_line())
    nothing_ran = tally.passed == 0 and not tally.failed
    return Status.FAILED if tally.failed or nothing_ran or (strict and tally.skipped) else Status.GOOD


@click.command()
@click.argument("which", type=click.Choice(["unit", "emulated", "all"]), default="all")
@click.option("--quick", is_flag=True, help="Leave out what is slow: under 60 seconds.")
@click.option("--long", "everything", is_flag=True, help="Everything, mutations and long campaigns as well.")
@click.option(
    "--share",
    type=click.Choice(["auto", *map(str, range(SHARES))]),
    help="A tenth of what --long adds; auto: that of the commit, and what the change touches.",
)
@click.option(
    "--require-all",
    is_flag=True,
    help="A skipped test fails the run, a requirement that a run of everything does not show, too; so it is with CI=true.",
)
@click.option("--platform", "platform_name", type=click.Choice(names()), help="Only this machine; default: all.")
@click.option("-k", "word", metavar="WORD", help="Only tests whose name contains WORD.")
@click.option("--junit", type=Output(), help="Write the results as JUnit XML.")
def test(
    which: str,
    quick: bool,
    everything: bool,
    share: str | None,
    require_all: bool,
    platform_name: str | None,
    word: str | None,
    junit: Path | None,
) -> Status:
    """Build and test everything that guards a property; --long: what guards the tests, too."""
    screen = Screen()
    tally, started, commit = Tally(), time.monotonic(), result.clean_commit()
    selection = select(quick, everything, share, platform_name, word)
    host = prepare([load(platform_name)] if platform_name else every(), screen)
    workers = worker_count(os.cpu_count() or 1)
    if which != "emulated":
        run_meson(host, selection, tally)
    ran = [describe(selection)]
    with tempfile.TemporaryDirectory() as shown, children_see(SHOWN, shown):
        CLAIMS.unlink(missing_ok=True)
        run_pytest(FOLDERS[which], selection, tally, workers, CLAIMS)
        if share == "auto" and which != "unit":
            ran.append(run_touched(selection, tally, workers, started))
    if result.is_whole(which, selection):
        ran.append(store(tally, commit, started))
    ran += keep(tally, commit, which)
    if junit:
        tally.write_junit(junit)
    strict = require_all or os.environ.get("CI") == "true"
    if strict and is_of_everything(which, selection) and CLAIMS.exists():
        for one in not_shown(tally, selection):
            tally.fail(one)
    return conclude(tally, ran, strict, screen)
