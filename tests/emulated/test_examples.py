# SPDX-License-Identifier: Apache-2.0
"""The examples come up whole, each on another machine, and do what their comments say; on every board they are valid."""

import pytest
from bhtool import paths
from bhtool.compile import make_plan
from bhtool.platforms import every, load

from tests.emulated.snapshots import seen

EXAMPLES = sorted(path.name for path in (paths.ROOT / "examples").glob("*.dts"))
MACHINES = {"robot.dts": "qemu-aarch64", "gateway.dts": "qemu-svm", "hpc-node.dts": "qemu-aarch64-gicv2"}

LONG = ("gateway.dts",)  # Linux on PCs is what mixed.dts boots there


def test_every_example_has_a_machine() -> None:
    assert sorted(MACHINES) == EXAMPLES


@pytest.mark.parametrize("platform", [platform.name for platform in every()])
@pytest.mark.parametrize("example", EXAMPLES)
def test_it_is_valid_on_every_board(example: str, platform: str) -> None:
    plan = make_plan(load(platform), paths.ROOT / "examples" / example, lambda _: None, provides=False)
    assert plan.errors == []
    assert {one.rule for one in plan.warnings} <= {"BH-W060"}


@pytest.mark.parametrize("example", [pytest.param(name, marks=pytest.mark.long if name in LONG else pytest.mark.slow) for name in EXAMPLES])
def test_everybody_is_ready(example: str) -> None:
    platform = load(MACHINES[example])
    machine = seen(platform, str(paths.ROOT / "examples" / example))
    assert set(machine.states.values()) == {"ready"}, machine.states
    if machine.is_counted:
        assert not any(beat.gaps for beat in machine.beats.values()), machine.beats
