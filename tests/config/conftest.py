# SPDX-License-Identifier: Apache-2.0
"""Compiles partition files of the tests on a platform, with stand-ins for their software."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config import Plan, compile_partition
from bhtool.platforms import load

from tests.config.software import Files

Compile = Callable[[Path, str], Plan]


@pytest.fixture(scope="session")
def compile_on(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    folder = tmp_path_factory.mktemp("software")

    def compile_one(partition: Path, platform_name: str) -> Plan:
        platform = load(platform_name)
        return compile_partition(partition, platform, Files(folder, platform.arch))

    return compile_one
