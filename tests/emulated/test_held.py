# SPDX-License-Identifier: Apache-2.0
"""BH-F4.trace. A machine that is held stands: what is read of its RAM is of one moment. Released, it goes on."""

import time
from pathlib import Path

import pytest
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import Session

from tests.emulated.scene import compile_file, platform_or_skip, scene_of, with_arguments

pytestmark = [pytest.mark.slow]
PLATFORMS = [pytest.param(name, marks=pytest.mark.platform(name)) for name in ("qemu-aarch64", "bochs-vtx")]
FILE = Path(__file__).parent / "trace.dts"
LIMIT, HOST_SECONDS, LOOKS = 120.0, 0.02, 10


@pytest.mark.parametrize("name", PLATFORMS)
def test_who_is_held_stands(name: str) -> None:
    platform = platform_or_skip(name)
    plan = with_arguments(compile_file(platform, FILE), {"engine": "heartbeat=100"})
    scene = scene_of(platform, plan)
    with Session(platform, scene.plan, Machine(platform, scene.image, timing_for(platform, scene.plan, exact=True))) as session:
        pool, engine = next(one.pool_hpa for one in scene.plan.sandboxes if one.name == "engine"), session.watches["engine"]

        def beats() -> int:
            found = session.memory.heartbeat(pool)
            return found.beats if found else 0

        def await_more_than(number: int) -> None:
            for _ in session.events(LIMIT):
                if engine.ready and beats() > number:
                    return
            raise AssertionError(f"no more than {number} beats")

        await_more_than(0)
        with session.machine.held():
            stood = beats()
            for _ in range(LOOKS):
                time.sleep(HOST_SECONDS)
                assert beats() == stood
        await_more_than(stood)
