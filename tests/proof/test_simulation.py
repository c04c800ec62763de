# SPDX-License-Identifier: Apache-2.0
"""BH-F4.scheduler. The simulation of tests/unit/sched_sim_test.c with 100,000 sets of VCPUs, where an ordinary run has 2,000."""

import subprocess

import pytest
from bhtool.image.build import build_host

from tests.emulated.scene import silent
from tests.touched import inputs

SETS, ORDINARY, LIMIT_SECONDS = 100_000, 2000, 1200
SOURCES = [
    *(f"kernel/sched/{name}.c" for name in ("deadlines", "heap", "sched", "sporadic", "pibs", "ranks")),
    "tests/unit/sched_sim.c",
    "tests/unit/sched_model.c",
]


@pytest.mark.long
@inputs(SOURCES, ["tests/unit/sched_sim_test.c"])
def test_many_sets() -> None:
    """Those behind the ones of an ordinary run."""
    program = build_host(silent) / "tests" / "sched_sim_test"
    done = subprocess.run([program, str(SETS), str(ORDINARY)], capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{SETS} sets; ")
