# SPDX-License-Identifier: Apache-2.0
"""BH-F6.messages. Ten million operations of ends whose other end writes anything anywhere, under AddressSanitizer; each run of the tests makes a few hundred thousand."""

import re
import subprocess

import pytest
from bhtool.image.build import build_host
from bhtool.paths import ROOT

from tests.emulated.scene import silent
from tests.touched import inputs

PROGRAM = "tests/unit/channel_hostile_test.c"
EXECUTIONS, LIMIT_SECONDS = 10_000_000, 600


@pytest.mark.long
@inputs([PROGRAM, "abi/channel_inline.h", "abi/channel_end.h"], [__file__])
def test_ten_million_operations() -> None:
    program = build_host(silent) / "tests" / "channel_hostile_test"
    run = subprocess.run([program, str(EXECUTIONS)], cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    made = re.search(r"(\d+) executions", run.stdout)
    assert made
    assert int(made[1]) >= EXECUTIONS
