# SPDX-License-Identifier: Apache-2.0
"""The tables of running machines are what their partition files say; and a wrong entry of any kind is found where it is (BH-E1.oracle, BH-I1.memory,
BH-I1.device, BH-I1.port, BH-I1.register, BH-I4.private).

One machine a platform and partition serves all tests of this file (snapshots.py).
"""

import functools
import json
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.cli import loaded
from bhtool.errors import Status
from bhtool.oracle.capture import look_of
from bhtool.oracle.judge import Verdict, judge
from bhtool.oracle.policy import Partitioning, places_of, read_partitioning
from bhtool.oracle.snapshot import Snapshot
from bhtool.platforms import Platform
from bhtool.verbs import oracle as verb

from tests.emulated.case import ALL, ARMV7, GICV2, GICV3, QEMU, SECOND_SVM, SVM, VTD, VTX
from tests.emulated.snapshots import grouped, scene_of, seen
from tests.oracle.injections import BY_FORMAT, ON_GICV3, Bench, Injection

SPOILT = str(Path(__file__).with_name("oracle.dts"))  # what errors are put into
FORMATS = {SVM: "NPT", VTX: "EPT", GICV3: "VMSAv8-64 stage 2", GICV2: "VMSAv8-64 stage 2", ARMV7: "LPAE stage 2"}


@functools.cache
def policies(platform: Platform, partition: str) -> Partitioning:
    return read_partitioning(paths.PARTITIONS / partition, platform, places_of(scene_of(platform, partition).plan))


def judged(platform: Platform, partition: str, snapshot: Snapshot) -> Verdict:
    return judge(snapshot, policies(platform, partition), look_of(platform).read)


MACHINES = [grouped(platform, partition) for platform in ALL for partition in ("native.dts", SPOILT)]
MACHINES += [grouped(platform, str(Path(__file__).with_name(file))) for platform in ALL for file in ("channels.dts", "requests.dts")]
MACHINES += [grouped(platform, str(Path(__file__).with_name("requests_vast.dts"))) for platform in ALL if platform != ARMV7]
MACHINES += [grouped(platform, partition, slow=True) for platform in ALL for partition in ("mixed.dts", "linux2.dts")]
MACHINES += [grouped(platform, str(Path(__file__).with_name("pci.dts")), slow=True) for platform in QEMU]
MACHINES += [grouped(VTX, str(Path(__file__).with_name("pci_ports.dts")), slow=True)]
MACHINES += [grouped(SECOND_SVM, "native.dts", slow=True)]
MACHINES += [grouped(VTD, str(Path(__file__).with_name("doorbell_alone.dts")), slow=True)]


@pytest.mark.parametrize(("platform", "partition"), MACHINES)
def test_tables_are_the_policy(machine_platform: Platform, partition: str) -> None:
    verdict = judged(machine_platform, partition, seen(machine_platform, partition).snapshot)
    assert not verdict.findings, "\n".join(map(str, verdict.findings))
    assert all(one.tree.leaves for one in verdict.sandboxes)


@functools.cache
def bench(platform: Platform) -> Bench:
    snapshot = seen(platform, SPOILT).snapshot
    return Bench(snapshot, judged(platform, SPOILT, snapshot))


OF_ANOTHER = (GICV2,)  # whose format another machine has, which shows the same
INJECTIONS = [grouped(platform, one, long=platform in OF_ANOTHER) for platform in ALL for one in BY_FORMAT[FORMATS[platform]]]
INJECTIONS += [grouped(GICV3, one) for one in ON_GICV3]


@pytest.mark.parametrize(("platform", "injection"), INJECTIONS, ids=lambda one: one.what if isinstance(one, Injection) else one)
def test_an_injected_error_is_found(machine_platform: Platform, injection: Injection) -> None:
    """BH-E1.oracle."""
    good = bench(machine_platform)
    findings = [str(one) for one in judged(machine_platform, SPOILT, injection.change(good)).findings]
    assert injection.found(findings), findings or "nothing was found"


@pytest.mark.parametrize("platform", [grouped(GICV3)])
@pytest.mark.parametrize(("spoilt", "status"), [(False, Status.GOOD), (True, Status.FAILED)])
def test_the_verb(machine_platform: Platform, spoilt: bool, status: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """BH-E1.oracle. What it says of the machine above, and of the same one with a page missing."""
    good, file = bench(machine_platform), tmp_path / "oracle.json"
    snapshot = good.put(good.gpa("statistics"), 0) if spoilt else good.snapshot
    monkeypatch.setattr(verb, "capture", lambda *_: snapshot)
    arguments = ["--platform", machine_platform.name, "--partition", SPOILT, "--json", str(file)]
    assert loaded("oracle").main(arguments, standalone_mode=False) == status
    said = json.loads(file.read_text())
    assert said["schema"] == "bulkhead/oracle-v1"
    assert [one["name"] for one in said["sandboxes"]] == ["north", "east", "south", "west"]
    assert {one["sandbox"] for one in said["findings"]} == ({"east"} if spoilt else set())
