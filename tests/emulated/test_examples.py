# SPDX-License-Identifier: Apache-2.0
"""BH-F2.ready. The examples do what their comments say: each on another machine, where they come up whole, and on every board by what `check --json` grants."""

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pytest
from bhtool import paths
from bhtool.image.stages import make_plan
from bhtool.platforms import every, load
from bhtool.report.check_json import plan_json

from tests.emulated.snapshots import Seen, seen

EXAMPLES = sorted(path.name for path in (paths.ROOT / "examples").glob("*.dts"))
LONG = ("gateway.dts",)  # Linux on PCs is what mixed.dts boots there


@dataclass(frozen=True)
class Claims:
    """What an example's comment says of its sandboxes."""

    machine: str
    reaches: set[tuple[str, str, str]]  # who, how, whom: nobody else reaches anybody
    restarts: dict[str, int]  # faults after which it begins again; whoever is not named is parked by the first
    periods_us: dict[str, int]  # of heartbeats
    exits: dict[str, set[str]]  # the only reasons to enter its monitor once it is ready
    says: dict[str, str] = field(default_factory=dict)  # a line of its log, as it begins
    heartbeat_timeouts_us: dict[str, int] = field(default_factory=dict)


CLAIMS = {
    "robot.dts": Claims(
        "qemu-aarch64",
        {("safety", "kick", "control"), ("control", "notice", "safety")},
        {"control": 3, "planner": 100},
        {"control": 1000, "safety": 1000},
        {"control": {"kick", "idle"}, "safety": {"call", "device"}},
        {"safety": "safety: kicked 3 of 3"},
        {"control": 5000},
    ),
    "gateway.dts": Claims(
        "qemu-svm",
        {("recorder", "log", "powertrain")},
        {"body": 10, "telematics": 100},
        {"powertrain": 1000, "body": 10_000, "recorder": 100_000},
        {"powertrain": set(), "body": set(), "recorder": set()},
        {"recorder": "recorder: powertrain: 1000 beats, "},
    ),
    "hpc-node.dts": Claims(
        "qemu-aarch64-gicv2",
        set(),
        {"service": 100},
        {"solver": 100_000, "stencil": 100_000},
        {"solver": set(), "stencil": set()},
        {"solver": "solver: random 100000 in ", "stencil": "stencil: stream 4 in "},
    ),
}


def test_every_example_makes_claims() -> None:
    assert sorted(CLAIMS) == EXAMPLES


def reached(sandboxes: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {(one["name"], reach["how"], reach["sandbox"]) for one in sandboxes for reach in one["reaches"]}


def share_nothing(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """No core, page or device of the two is the same."""
    apart = [
        mine["hpa"] + mine["bytes"] <= its["hpa"] or its["hpa"] + its["bytes"] <= mine["hpa"] for mine in one["ram"] for its in other["ram"]
    ]
    return all(apart) and not set(one["cpus"]) & set(other["cpus"]) and not set(one["devices"]) & set(other["devices"])


@pytest.mark.parametrize("platform", [platform.name for platform in every()])
@pytest.mark.parametrize("example", EXAMPLES)
def test_check_grants_what_it_claims_on_every_board(example: str, platform: str) -> None:
    plan, claims = make_plan(load(platform), paths.ROOT / "examples" / example, lambda _: None, provides=False), CLAIMS[example]
    assert plan.errors == []
    assert {one.rule for one in plan.warnings} <= {"BH-W060"}
    sandboxes = plan_json(plan, load(platform))["allocation"]["sandboxes"]
    assert reached(sandboxes) == claims.reaches
    assert {one["name"]: one["restart"]["max_restarts"] for one in sandboxes if one["restart"]} == claims.restarts
    assert {one.name: one.heartbeat_timeout_us for one in plan.sandboxes if one.heartbeat_timeout_us} == claims.heartbeat_timeouts_us
    assert [(one["name"], other["name"]) for one, other in combinations(sandboxes, 2) if not share_nothing(one, other)] == []


def entered(machine: Seen, sandbox: str) -> set[str]:
    """Why it has entered its monitor since it was ready."""
    return {reason for reason, count in machine.exits[sandbox].items() if count}


@pytest.mark.parametrize("example", [pytest.param(name, marks=pytest.mark.long if name in LONG else pytest.mark.slow) for name in EXAMPLES])
def test_the_machine_does_what_it_claims(example: str) -> None:
    claims = CLAIMS[example]
    machine = seen(load(claims.machine), str(paths.ROOT / "examples" / example))
    assert set(machine.states.values()) == {"ready"}, machine.states
    assert {name: beat.period_ns // 1000 for name, beat in machine.beats.items()} == claims.periods_us
    assert all(beat.beats for beat in machine.beats.values()), machine.beats
    if machine.is_counted:
        assert not any(beat.gaps for beat in machine.beats.values()), machine.beats
    others = {name: found for name, reasons in claims.exits.items() if (found := entered(machine, name) - reasons)}
    assert others == {}, "exits when ready"
    for name, line in claims.says.items():
        assert any(one.startswith(line) for one in machine.logs[name]), machine.logs[name]
