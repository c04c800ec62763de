# SPDX-License-Identifier: Apache-2.0
"""The campaign's generator: reproducible from seed and number, complete, and readable by the kernel that runs it."""

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cffi
import pytest
from bhtool import abi, paths
from bhtool import elf as files
from bhtool.attack.attack_class import walk
from bhtool.attack.campaign import Campaign, Escape
from bhtool.attack.evidence import forged_lives, without_lives
from bhtool.attack.generator import CLASSES, CYCLE, ENDING, requests
from bhtool.attack.queue import HEADER, MAGIC, MOST, NOTES, NOTES_AT, Notes, pack_queue, with_queue
from bhtool.attack.reference import least, tables
from bhtool.attack.request import ANYTHING, CODE_BYTES, ENTRY, NEVER_BACK, NOT_DONE, Aim, Attempt, Outcome, Request, Rival
from bhtool.attack.stage import require_devices
from bhtool.attack.surroundings import AllSurroundings, Surroundings
from bhtool.config.plan import ChannelDelay, ChannelKind, ChannelPlan, Function, Location, Plan, Region, SandboxPlan
from bhtool.config.span import PAGE
from bhtool.errors import BulkheadError, Status
from bhtool.families.table import FAMILIES
from bhtool.platforms import Campaign as Devices
from bhtool.platforms import load
from hypothesis import given, settings
from hypothesis import strategies as st

GUEST_RAM = {"aarch64": 0x40000000, "armv7": 0x40000000, "x86_64": 0}
PLATFORMS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
MIB = 1 << 20


def sandbox(arch: str, index: int) -> SandboxPlan:
    where = Location("test.dts", 1)
    gpa, hpa = GUEST_RAM[arch], (0x100 + 4 * index) * MIB
    regions = [Region("ram", "ram", gpa, hpa, 4 * MIB, "rwx")]
    pool = (0x80 + index) * MIB
    found = SandboxPlan(
        f"one{index}", index, "native", where, where, [index], [index], "log", "kernel", "", gpa, hpa, 4 * MIB, pool, regions=regions
    )
    found.pool_size = 0x20000
    found.functions = [Function(f"function{index}", 0x10 + index, 0x12345678, [(0x3000, 0xFFFFF000), *[(0, 0)] * 5], dma="free")]
    found.configuration = [Region("configuration", "configuration", 0xB0000000, 0xB0000000, MIB, "r")]
    return found


AREAS, WINDOW, WINDOW_ASKED = (PAGE, PAGE), 0xA0000000, 0xA0A00000
NO_DELAY = ChannelDelay(0, 0, None, None, ("nobody asks",))
KINDS: dict[tuple[int, int], ChannelKind] = {(1, 0): "ring", (2, 3): "mailbox", (0, 1): "latest", (3, 2): "latest", (0, 3): "ring"}
ASKED: dict[tuple[int, int], ChannelKind] = {(1, 3): "mailbox", (0, 2): "ring", (3, 1): "ring"}  # on request


def connect(plan: Plan) -> None:
    """As the tool does: one channel behind the other, in the machine and in each window."""
    seen = Counter[tuple[int, bool]]()
    for number, (ends, kind) in enumerate((KINDS | ASKED).items()):
        hpa, slots = 0x50 * MIB + number * 3 * PAGE, {"ring": 8, "mailbox": 1}.get(kind, 4)
        plan.channels.append(ChannelPlan(f"channel{number}", kind, ends, slots, 128, AREAS, hpa, NO_DELAY, on_request=ends in ASKED))
        for end, index in enumerate(ends):
            gpa = (WINDOW_ASKED if ends in ASKED else WINDOW) + seen[index, ends in ASKED] * 3 * PAGE
            border = PAGE * (1 + end)
            parts = (("rw", "r") if end == 0 else ("r", "rw"), ((0, border), (border, 3 * PAGE - border)))
            for permissions, (start, size) in zip(*parts, strict=True):
                plan.sandboxes[index].regions.append(Region("part", "channel", gpa + start, hpa + start, size, permissions))
            seen[index, ends in ASKED] += 1


def all_surroundings(platform: str) -> AllSurroundings:
    machine = load(platform)
    plan = Plan(platform, Path("test.dts"), [sandbox(machine.arch, index) for index in range(4)], shared_hpa=0x7F * MIB)
    connect(plan)
    two = [Surroundings(machine, plan, plan.sandboxes[index]) for index in (1, 2)]
    return {1: two, 2: two[:1]}


def test_queue_and_notes_are_the_kernels() -> None:
    kernel = cffi.FFI()
    kernel.cdef(abi.declarations(paths.ROOT / "tests" / "guests" / "probe" / "campaign.h"))
    ours = {"outcome": list(map(int, Outcome)), "rival": list(map(int, Rival)), "flags": list(map(int, Aim))}
    for name, values in ours.items():
        assert set(values) | {0} == set(kernel.typeof(f"enum campaign_{name}").elements) | {0}, name
    lib = kernel.dlopen(None)
    assert (lib.CAMPAIGN_TRYING, lib.CAMPAIGN_REFUSED) == (Outcome.STOPPED, Outcome.REFUSED)
    assert (lib.CAMPAIGN_RETURNED, lib.CAMPAIGN_RETURNED_ZERO, lib.CAMPAIGN_RETURNED_ONES) == (Outcome.RETURNED, Outcome.ZERO, Outcome.ONES)
    assert (lib.CAMPAIGN_REWRITE, lib.CAMPAIGN_REAIM, lib.CAMPAIGN_RECODE) == (Rival.REWRITE, Rival.REAIM, Rival.RECODE)
    assert (lib.CAMPAIGN_AIM, lib.CAMPAIGN_GRAFT, lib.CAMPAIGN_ALIAS) == (Aim.ADDRESS, Aim.TABLE, Aim.ALIAS)
    assert (lib.CAMPAIGN_PROTECTED, lib.CAMPAIGN_REAL) == (Aim.PROTECTED, Aim.REAL)
    assert (lib.CAMPAIGN_DMA, lib.CAMPAIGN_PARTNER) == (Aim.DMA, Aim.PARTNER)
    assert (lib.CAMPAIGN_CLOSED, lib.CAMPAIGN_FRESH, lib.CAMPAIGN_TOUCH) == (Aim.CLOSED, Aim.FRESH, Rival.TOUCH)
    assert (lib.CAMPAIGN_MAGIC, lib.CAMPAIGN_NOTES, lib.CAMPAIGN_CODE_BYTES) == (MAGIC, NOTES_AT, CODE_BYTES)
    sizes = {"request": ENTRY.size, "queue": HEADER.size, "notes": NOTES.size + MOST}
    assert sizes == {one: kernel.sizeof(f"struct campaign_{one}") for one in sizes}


@pytest.mark.parametrize(
    ("arch", "file", "words"),
    [
        ("aarch64", "platforms/qemu-aarch64/board.h", "#define BOARD_IMAGE_AT {:#x}\n"),
        ("aarch64", "platforms/qemu-aarch64-gicv2/board.h", "#define BOARD_IMAGE_AT {:#x}\n"),
        ("armv7", "platforms/qemu-armv7/board.h", "#define BOARD_IMAGE_AT {:#x}\n"),
        ("x86_64", "arch/x86_64/monitor.lds", "\t. = {:#x};"),
    ],
)
def test_monitors_are_where_they_are_attacked(arch: str, file: str, words: str) -> None:
    assert words.format(FAMILIES[arch].monitor.image_address) in (paths.ROOT / file).read_text()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_request_depends_on_seed_and_number_alone(platform: str) -> None:
    many, few = (requests(all_surroundings(platform), 7, count, ENDING) for count in (600, 200))
    assert many[:200] == few
    assert many[:200] != requests(all_surroundings(platform), 8, 200, ENDING)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), platform=st.sampled_from(PLATFORMS))
def test_every_request_can_be_packed(seed: int, platform: str) -> None:
    for request in requests(all_surroundings(platform), seed, 300, 0.5):
        assert len(request.pack()) == ENTRY.size
        assert str(request.number) in str(request)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_classes_reach_their_shares(platform: str) -> None:
    attempts = 5000
    count = Counter(request.group for request in requests(all_surroundings(platform), 1, attempts, ENDING))
    classes = CLASSES[load(platform).arch]
    assert sum(one.share for one in classes) == CYCLE
    for one in classes:
        assert count[one.name] >= least(one, classes, attempts), one.name
        assert bool(one.control) != bool(one.harmless), one.name


def test_the_document_lists_the_classes() -> None:
    text = (paths.ROOT / "docs" / "attack.md").read_text(encoding="utf-8")
    assert tables() in text, "put what `python -m bhtool.attack.reference` prints into docs/attack.md"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_attempts_are_distinct(platform: str) -> None:
    made = requests(all_surroundings(platform), 1, 5000, ENDING)
    assert len({request.pack() for request in made}) == len(made)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_calls_that_return_are_all_tried(platform: str) -> None:
    """Also those that a later contract adds: only the two that end their sandbox are left to the class of resets."""
    around = all_surroundings(platform)[1][0]
    draw = next(one.draw for one in CLASSES[load(platform).arch] if one.name == "calls")
    tried = {draw(random.Random(n), n, around).target for n in range(5000)}
    of_32_bits = 0x40000000 if load(platform).arch == "armv7" else 0
    ends = {"BH_CALL_PARK", "BH_CALL_RESTART"}
    known = {number - of_32_bits: name for number, name in abi.enumerators("bh_call").items()}
    first = min(known)
    assert set(range(first, first + 32)) - tried == {number for number, name in known.items() if name in ends}


@pytest.mark.parametrize("platform", PLATFORMS)
def test_memory_is_foreign(platform: str) -> None:
    around = all_surroundings(platform)[1][0]
    for n in range(500):
        assert around.is_foreign(around.draw(random.Random(n)).address)


@given(size=st.integers(1, 1 << 16), offset=st.integers(0, 1 << 20))
@settings(max_examples=20, deadline=None)
def test_a_walk_visits_everything_once(size: int, offset: int) -> None:
    assert len({walk(index, size, offset) for index in range(size)}) == size


def request(number: int) -> Request:
    return Request(number, "memory", Attempt("read", b"\xc3", 0x1000, contained=NEVER_BACK))


def test_a_queue_becomes_a_segment() -> None:
    form = files.FORMS[2]
    like = files.Header(b"\x7fELF\x02\x01\x01".ljust(16, b"\0"), 2, 62, 1, 0x200000, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    text = files.Program(files.PT_LOAD, 5, 4096, 0x200000, 0x200000, 3, 16, 4096)
    kernel = form.pack_headers(like, [text]).ljust(4096, b"\0") + b"abc"
    queue = pack_queue([request(0), request(1)], first=1, identity=9)
    made = with_queue(kernel, queue, 0x300000)
    header = files.read_header(form, made)
    first, second = files.read_programs(form, header, made) or []
    assert (header.entry, first.physical, first.memory_bytes, second.physical) == (0x200000, 0x200000, 16, 0x300000)
    assert made[first.offset : first.offset + first.file_bytes] == b"abc"
    assert made[second.offset : second.offset + second.file_bytes] == queue
    assert len(queue) == HEADER.size + 2 * ENTRY.size
    assert HEADER.size == ENTRY.size
    assert MOST > 4000
    assert NOTES.size == 16


def test_notes_are_not_believed() -> None:
    notes = Notes(begun=2, done=True, lives=1, outcomes=bytes([Outcome.STOPPED, 77]))
    assert [notes.outcome(0), notes.outcome(1)] == [Outcome.STOPPED, Outcome.RETURNED]


def test_what_comes_back_is_an_escape() -> None:
    result = Campaign(load("qemu-svm"), seed=1, asked=2)
    result.judge(request(0), Outcome.STOPPED)
    assert not result.escapes
    result.judge(request(1), Outcome.ZERO)
    assert [escape.request for escape in result.escapes] == [request(1)]
    assert not result.good
    assert result.as_dict()["contained"] == 1


def test_an_attempt_that_is_seen_at_two_places_is_one_that_got_through() -> None:
    """A frame over a page's end lies in two pages; what was seen from outside alone is nobody's attempt."""
    result = Campaign(load("qemu-svm"), seed=1, asked=2)
    result.judge(request(0), Outcome.STOPPED)
    result.judge(request(1), Outcome.ZERO)
    result.escapes += [Escape(request(1), "its frame lies elsewhere"), Escape(None, "a page has changed")]
    assert (result.escaped(), result.escaped(request(1).group), result.escaped("another")) == (1, 1, 0)
    assert result.as_dict()["contained"] == 1


def test_functions_are_set_free_where_they_attack(inside: Callable[..., int], capsys: pytest.CaptureFixture[str]) -> None:
    assert inside("attack", "--without", "dma") == Status.USAGE
    assert "--without dma goes with --dma" in capsys.readouterr().err


def test_everything_means_everything_that_was_tried() -> None:
    assert Outcome.UNTRIED not in ANYTHING


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_board_that_names_no_devices_is_not_attacked(platform: str) -> None:
    """Less would be attacked, and nobody would see it. A board that says so may be attacked without."""
    board = load(platform)
    require_devices(board)
    require_devices(replace(board, campaign=Devices(devices=())))
    with pytest.raises(BulkheadError, match=rf"{platform} does not say which devices .*`\[campaign\]`.*there are `uart0`") as refused:
        require_devices(replace(board, campaign=Devices()))
    assert all(f"`{name}`" in str(refused.value) for name in board.campaign.devices or ())


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_controller_is_as_large_as_the_board_has_it(platform: str) -> None:
    """What follows a distributor is attacked as anything else: of a GICv2 it is a page."""
    one = all_surroundings(platform)[1][0]
    assert [(one.controller.start, one.controller.size)] == one.machine.interrupt_controller.reg()[:1]
    assert one.controller.size == (0x10000 if platform == "qemu-aarch64" else 0x1000)
    if one.machine.gic_v2:
        assert one.is_foreign(one.controller.end)
        assert not one.is_foreign(one.controller.start)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_channels_are_attacked_where_they_are(platform: str) -> None:
    """Words of its own areas, that one alone; the page and the other's area by class channel-bounds; nothing there that would be its own."""
    around = all_surroundings(platform)[1][0]
    of_class = {one.name: one.draw for one in CLASSES[load(platform).arch]}
    stores = rings = 0
    for n in range(2000):
        attempt = of_class["channel"](random.Random(n), n, around)
        if attempt.aim & Aim.ADDRESS:
            (one,) = (one for one in around.channels if one.span.start <= attempt.target < one.span.end)
            own = one.areas[one.end]
            assert n % 8 == 6 or own.start <= attempt.target < own.end
            stores += n % 8 != 6
        else:
            rings += 1
    assert (stores, rings) == (1500, 250)
    bounds = [of_class["channel-bounds"](random.Random(n), n, around) for n in range(500)]
    for attempt in bounds:
        own_areas = [one.areas[one.end] for one in around.channels]
        is_own = any(area.start <= attempt.target < area.end for area in own_areas)
        assert not is_own or "call" in attempt.text or "jump" in attempt.text or "page table" in attempt.text
    assert {attempt.contained for attempt in bounds} == {NEVER_BACK, NOT_DONE, ANYTHING}
    of_others = [attempt for attempt in bounds if "(channel" in attempt.text]
    assert any("sees it" in attempt.text for attempt in of_others)
    assert all(around.is_foreign(attempt.target) for attempt in of_others)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_channels_on_request_are_attacked_when_they_are_closed(platform: str) -> None:
    """From where nobody comes back: before they are opened, and after they were closed. Of no other channel a call that opens it may come back as done."""
    around = all_surroundings(platform)[1][0]
    of_class = {one.name: one.draw for one in CLASSES[load(platform).arch]}
    own = {number: one for number, one in enumerate(around.channels) if one.plan.on_request}
    assert len(own) == 2 < len(around.channels)
    closed = [of_class["channel-closed"](random.Random(n), n, around) for n in range(400)]
    for attempt in closed:
        assert attempt.contained == NEVER_BACK
        assert any(one.span.start <= attempt.target < one.span.end for one in own.values())
    states = Aim.CLOSED | Aim.FRESH | Aim.PARTNER
    assert {attempt.aim & states for attempt in closed} == {Aim.PARTNER, Aim.FRESH, Aim.CLOSED, Aim.PARTNER | Aim.CLOSED}
    assert {attempt.aim & ~states for attempt in closed} == {Aim.ADDRESS, Aim.TABLE}
    for n in range(300):
        beside = of_class["channel-beside"](random.Random(n), n, around)
        one = own[beside.value]
        assert one.areas[one.end].start <= beside.target < one.areas[one.end].end
        assert (beside.contained, beside.rival, beside.target % 8) == (NEVER_BACK if n % 3 else ANYTHING, Rival.TOUCH, 0)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_a_sandbox_may_not_open_is_denied(platform: str) -> None:
    around = all_surroundings(platform)[1][0]
    draw = next(one.draw for one in CLASSES[load(platform).arch] if one.name == "channel-turns")
    own = [number for number, one in enumerate(around.channels) if one.plan.on_request]
    for n in range(2, 400, 4):
        assert draw(random.Random(n), n, around).contained == {Outcome.ZERO}
        assert draw(random.Random(n), n, around).value in own
        denied = draw(random.Random(n), n + 1, around)
        assert Outcome.ZERO not in denied.contained
        assert denied.value not in own


def test_a_channels_page_may_tell_of_lives_alone() -> None:
    page = bytes(range(256)) * 16
    lives = bytearray(page)
    for end in (0, 1):
        at = abi.ffi.offsetof("struct bh_channel", "end") + end * abi.sizeof("bh_channel_end")
        lives[at : at + 8] = b"\xaa" * 8
    assert without_lives(page) == without_lives(bytes(lives))
    for at in (0, 0x7F, 0x88, 0xFF, 0xFFF):
        other = bytearray(page)
        other[at] ^= 1
        assert without_lives(bytes(other)) != without_lives(page), hex(at)


def test_a_channels_page_says_what_monitors_say() -> None:
    """Of an end that is always open the life that its sandbox lives; of one on request that it is open, closed, or gone, in whatever life."""
    platform = load("qemu-svm")
    plan = Plan("qemu-svm", Path("test.dts"), [sandbox("x86_64", index) for index in range(4)], shared_hpa=0x7F * MIB)
    connect(plan)
    ram = os.memfd_create("ram")
    os.ftruncate(ram, 256 * MIB)

    def tell(channel: ChannelPlan, epoch: int, state: int) -> list[str]:
        at = channel.page - platform.ram_base + int(abi.ffi.offsetof("struct bh_channel", "end"))
        for end in (0, 1):
            os.pwrite(ram, epoch.to_bytes(4, "little") + state.to_bytes(4, "little"), at + end * abi.sizeof("bh_channel_end"))
        return forged_lives(platform, plan, ram)

    for channel in plan.channels:
        tell(channel, 1, abi.lib.BH_CHANNEL_LIVES)
    always, asked = plan.channels[0], next(one for one in plan.channels if one.on_request)
    assert not forged_lives(platform, plan, ram)
    assert not tell(asked, 77, abi.lib.BH_CHANNEL_CLOSED) + tell(asked, 77, abi.lib.BH_CHANNEL_GONE)
    assert len(tell(asked, 77, abi.lib.BH_CHANNEL_COMING)) == len(tell(asked, 77, 4)) == 2
    assert not tell(asked, 1, abi.lib.BH_CHANNEL_LIVES)
    assert len(tell(always, 2, abi.lib.BH_CHANNEL_LIVES)) == len(tell(always, 1, abi.lib.BH_CHANNEL_CLOSED)) == 2
    os.close(ram)
