# SPDX-License-Identifier: Apache-2.0
"""BH-E1.campaign. Attempts of network cards: every class, edge and state has its part, requests are the kernel's, and a frame is found wherever it lies."""

import os
import struct
from dataclasses import replace
from pathlib import Path

import cffi
import pytest
from bhtool import abi, paths
from bhtool.attack.astray import NEIGHBOURS, Astray, count_used, find_astray
from bhtool.attack.campaign import Campaign
from bhtool.attack.kind import BY_CARDS
from bhtool.attack.machine_run import MachineRun
from bhtool.attack.reference import card_table
from bhtool.attack.request import Outcome, Request
from bhtool.attack.stage import ENDED, FEW, SPARE_BYTES, require_cards
from bhtool.attack.surroundings import AllSurroundings
from bhtool.attack.transfer_requests import END, OWN, STATES
from bhtool.attack.transfers import CLASSES, EDGES, FRAME, Way, spare
from bhtool.errors import BulkheadError
from bhtool.platforms import load

from tests.tool.test_attack import MIB, all_surroundings

PLATFORMS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "qemu-svm-vtd")
MANY = 20_000


def grounds(platform: str) -> AllSurroundings:
    """As in the other campaign, with an IOMMU and with sentinels; by cast."""
    found = all_surroundings(platform)
    plan = found[1][0].plan
    plan.iommu_hpa, plan.iommu_bytes = 0x70 * MIB, 0x10000
    for one, name in zip(plan.sandboxes, ("watch0", "hostile0", "hostile1", "watch1"), strict=True):
        one.name, one.snapshot_hpa, one.pieces = name, 0x60 * MIB, [(one.ram_hpa, 0x2000)]
    return dict.fromkeys(BY_CARDS.casts(load(platform)), found[1])


def requests(platform: str, attempts: int, seed: int = 1) -> list[Request]:
    return BY_CARDS.requests(grounds(platform), seed, attempts)


def test_requests_are_the_kernels() -> None:
    kernel = cffi.FFI()
    kernel.cdef(abi.declarations(paths.ROOT / "tests" / "guests" / "probe" / "campaign.h"))
    lib = kernel.dlopen(None)
    assert [getattr(lib, f"TRANSFER_{one.name}") for one in Way] == list(Way)
    assert (lib.TRANSFER_END, lib.TRANSFER_NEIGHBOURS) == (END, NEIGHBOURS)
    assert (lib.TRANSFER_OWN, lib.TRANSFER_FIRST_SHIFT, lib.TRANSFER_COUNT_SHIFT, lib.TRANSFER_FRAME_BYTES) == (OWN, 8, 16, FRAME)


def test_a_card_that_goes_on_is_told() -> None:
    """Of an end by what it has used of its ring, from outside; of a restart by the next life, whatever attempt was the last."""
    ring = b"".join(struct.pack("<QII", at, FRAME, status) for at, status in enumerate((3, 7, 1, 0, 2)))
    assert count_used(ring.ljust(4096, b"\0")) == 3
    run = MachineRun(BY_CARDS.casts(load("qemu-aarch64"))[ENDED])
    run.used = {"hostile0": FEW}
    assert run.harm == []
    run.used = {"hostile0": FEW + 1}
    assert run.harm == [f"hostile0 has ended, and its card went on: it took {FEW + 1} frames"]
    result = Campaign(load("qemu-aarch64"), seed=1, asked=MANY)
    for one in requests("qemu-aarch64", len(STATES)):
        result.judge(one, Outcome.OUTLIVED)
    assert len(result.escapes) == len(STATES)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_each_class_edge_and_state_has_a_hundred_of_twenty_thousand(platform: str) -> None:
    result = Campaign(load(platform), seed=1, asked=MANY)
    for one in requests(platform, MANY):
        result.judge(one, Outcome.ZERO)
    assert len(result.coverage) == len(CLASSES) * len(EDGES) * len(STATES)
    assert min(result.coverage.values()) >= 100


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_request_depends_on_seed_and_number_alone(platform: str) -> None:
    assert requests(platform, 600)[:200] == requests(platform, 200)
    assert requests(platform, 200) != requests(platform, 200, seed=2)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_only_what_is_said_to_be_its_own_is_its_own(platform: str) -> None:
    all_grounds = grounds(platform)
    for one in requests(platform, 4000):
        around = all_grounds[one.cast][one.place]
        start, size = one.attempt.target, Way(one.attempt.value & 0xFF).bytes
        room = spare(around)
        inside = room.start <= start and start + size <= room.end
        is_armed = one.attempt.value & 0xFF == Way.ARM
        assert inside == (one.group == "own-ram"), one
        assert bool(one.attempt.value & OWN) == (inside and not is_armed)
        own = range(around.sandbox.ram_gpa, around.sandbox.ram_gpa + around.sandbox.ram_size)
        assert inside or one.group == "brink" or (start not in own and start + size - 1 not in own), one


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_the_emulator_lets_through_is_left_out_and_nothing_else(platform: str) -> None:
    """VT-d's model passes messages in compatibility format, and forged ones: three ways to write to where messages go. Literal."""
    found = {(one.group, Way(one.attempt.value & 0xFF).name) for one in requests(platform, 4000) if one.left_out}
    ways = ("WRITE", "RECEIVE_RING", "ARM") if platform == "qemu-svm-vtd" else ()
    assert found == {("doorbells", way) for way in ways}
    assert any(one.group == "doorbells" for one in requests(platform, 4000) if not one.left_out)


def test_the_document_lists_the_classes() -> None:
    text = (paths.ROOT / "docs" / "attack.md").read_text(encoding="utf-8")
    assert card_table() in text, "put what `python -m bhtool.attack.reference` prints into docs/attack.md"


def test_a_frame_is_found_but_in_its_own_ram(tmp_path: Path) -> None:
    around = grounds("qemu-aarch64")[1][0]
    machine, plan = replace(around.platform, ram_base=0), around.plan
    own, other, pool = plan.sandboxes[1], plan.sandboxes[2], plan.sandboxes[0].pool_hpa
    file = tmp_path / "ram"
    file.touch()
    os.truncate(file, machine.ram_size)
    ram = os.open(file, os.O_RDWR)
    word, frame = 0x1122334455667788, (0x1122334455667788).to_bytes(8, "little") + (7).to_bytes(8, "little")
    for at in (own.ram_hpa + 64, other.ram_hpa + 16, pool + 0xFF0, pool + 0x1008):
        os.pwrite(ram, frame, at)
    os.pwrite(ram, frame[:8] + b"\xff" * 8, pool + 0x2000)
    os.pwrite(ram, frame, pool + 0x3000)
    found = find_astray(machine, plan, ram, {own.name: word}, [pool + 0x3000])
    os.close(ram)
    assert sorted(found, key=lambda one: one.address) == [
        Astray("hostile0", 7, pool + 0xFF0, "nobody's"),
        Astray("hostile0", 7, other.ram_hpa + 16, "RAM of hostile1"),
    ]


def test_a_machine_whose_functions_do_not_master_the_bus_is_not_attacked_by_them() -> None:
    require_cards(load("qemu-aarch64"))
    with pytest.raises(BulkheadError, match="bochs-vtx has no network card behind an IOMMU"):
        require_cards(load("bochs-vtx"))


def test_the_spare_pages_are_the_last() -> None:
    around = grounds("qemu-armv7")[1][0]
    assert (spare(around).end + 0x1000, spare(around).size + 0x1000) == (around.sandbox.ram_gpa + around.sandbox.ram_size, SPARE_BYTES)
