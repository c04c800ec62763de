# SPDX-License-Identifier: Apache-2.0
"""What a machine gives up for its sandboxes: `check` adds it up."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.abi import lib
from bhtool.config import Plan
from bhtool.paths import PARTITIONS
from bhtool.platforms import every
from bhtool.verbs.check import machine_memory, memory_of

Compile = Callable[[Path, str], Plan]
PLATFORMS = [platform.name for platform in every()]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_is_given_up_is_what_no_sandbox_has(compile_on: Compile, platform: str) -> None:
    plan = compile_on(PARTITIONS / "restart.dts", platform)
    held = {one.what: one.size for one in plan.holdings}
    for one in plan.sandboxes:
        cost = memory_of(one)
        assert cost["monitor_bytes"] == held[f"monitor of `{one.name}`"]
        assert cost["given_up_bytes"] - cost["monitor_bytes"] == (one.pristine_size if one.restarts else 0)
        assert cost["table_bytes"] + cost["log_bytes"] < cost["monitor_bytes"]
    assert any(memory_of(one)["copy_bytes"] for one in plan.sandboxes)
    assert machine_memory(plan)["kick boxes"] == lib.BH_PAGE_BYTES
