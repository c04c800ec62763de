# SPDX-License-Identifier: Apache-2.0
"""Machines for tests: a platform whose emulator is missing is skipped by name."""

import pytest
from bhtool.errors import BulkheadError
from bhtool.machine import require_emulator
from bhtool.platforms import Platform, load


@pytest.fixture(scope="module")
def machine_platform(platform: str) -> Platform:
    """The platform a test is parametrized with (scope="module" where a fixture of that scope needs it)."""
    found = load(platform)
    try:
        require_emulator(found)
    except BulkheadError as missing:
        pytest.skip(str(missing))
    return found
