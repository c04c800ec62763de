# SPDX-License-Identifier: Apache-2.0
"""Options every test folder shares: what `tools/bulkhead test` hands down."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out tests marked slow")
    parser.addoption("--platform", help="only tests of this platform, and those of none")


def platform_of(item: pytest.Item) -> str | None:
    """The platform a test is about: of its `platform` parameter, or its mark."""
    callspec = getattr(item, "callspec", None)
    value = callspec.params.get("platform") if callspec else None
    mark = item.get_closest_marker("platform")
    if value is None and mark:
        value = mark.args[0]
    return None if value is None else str(getattr(value, "name", value))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects rather than skips: what was not asked for is not reported."""
    quick, wanted = config.getoption("--quick"), config.getoption("--platform")
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        is_slow = quick and item.get_closest_marker("slow")
        is_elsewhere = wanted and platform_of(item) not in (None, wanted)
        (dropped if is_slow or is_elsewhere else kept).append(item)
    config.hook.pytest_deselected(items=dropped)
    items[:] = kept
