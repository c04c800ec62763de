# SPDX-License-Identifier: Apache-2.0
"""Machines for tests."""

import pytest
from bhtool.platforms import Platform

from tests.emulated.scene import platform_or_skip


@pytest.fixture
def machine_platform(platform: str) -> Platform:
    """The platform a test is parametrized with."""
    return platform_or_skip(platform)
