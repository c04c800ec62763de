# SPDX-License-Identifier: Apache-2.0
"""Options every test folder shares: what `tools/bulkhead test` hands down. And what a test cost and is evidence for, for its JUnit file."""

import time
from collections.abc import Generator
from pathlib import Path

import pytest
from bhtool.evidence.claims import write
from bhtool.testing.change import since_tested
from bhtool.testing.cost import PROPERTY, used_so_far
from bhtool.testing.selection import share_of
from bhtool.testing.tally import LEFT, PLATFORM, TEST

from tests.claims import CLAIMS, claim_of, platform_of
from tests.touched import in_order, rank

BEFORE = pytest.StashKey[float]()
LONGEST = pytest.StashKey[float]()
LONG_SECONDS = 15.0  # what a test may take of which nothing is known yet


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out tests marked slow or long")
    parser.addoption("--long", action="store_true", help="with tests marked long")
    parser.addoption("--share", type=int, help="of tests marked long, this tenth")
    parser.addoption(
        "--touched", action="store_true", help="only tests marked long which the change touches, and which are not of the share"
    )
    parser.addoption("--until", type=float, help="start no test that may not have ended at this moment of the epoch")
    parser.addoption("--claims", type=Path, help="write what each test is evidence for to this file")
    parser.addoption("--platform", help="only tests of this platform, and those of none")


def is_chosen(config: pytest.Config, item: pytest.Item) -> bool:
    wanted = config.getoption("--platform")
    if wanted and platform_of(item) not in (None, wanted):
        return False
    if item.get_closest_marker("long"):
        together = item.get_closest_marker("xdist_group")  # they have one machine, and often go on where the one before stopped
        is_of_share = share_of(str(together.args[0]) if together else item.nodeid) == config.getoption("--share")
        return bool(config.getoption("--long")) or is_of_share != bool(config.getoption("--touched"))
    return not config.getoption("--touched") and not (config.getoption("--quick") and item.get_closest_marker("slow"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects rather than skips: what was not asked for is not reported."""
    claims = [claim_of(item) for item in items]
    for item, claim in zip(items, claims, strict=True):
        item.user_properties.extend([(TEST, claim.test), *([(PLATFORM, claim.platform)] if claim.platform else [])])
    config.stash[CLAIMS] = claims
    worker = getattr(config, "workerinput", {"workerid": "gw0"})  # all workers collect the same
    if (file := config.getoption("--claims")) and worker["workerid"] == "gw0":
        write(file, claims)
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        (kept if is_chosen(config, item) else dropped).append(item)
    if config.getoption("--touched"):
        change = since_tested()
        ranked = {item: found for item in kept if (found := rank(item, change))}
        dropped += [item for item in kept if item not in ranked]
        kept = in_order(ranked)
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[BEFORE], started = used_so_far(), time.monotonic()
    try:
        return (yield)
    finally:
        stash = item.config.stash
        stash[LONGEST] = max(stash.get(LONGEST, LONG_SECONDS), time.monotonic() - started)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """As long as the longest so far of its worker: so long a test may take."""
    until = item.config.getoption("--until")
    if until is not None and time.time() + item.config.stash.get(LONGEST, LONG_SECONDS) > until:
        pytest.skip(LEFT)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """A machine that several tests share is counted to the one that used it meanwhile."""
    try:
        return (yield)
    finally:
        item.user_properties.append((PROPERTY, f"{used_so_far() - item.stash[BEFORE]:.2f}"))
