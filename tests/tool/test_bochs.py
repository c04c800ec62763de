# SPDX-License-Identifier: Apache-2.0
"""Bochs as a machine, and how its binary comes about."""

import os
import re
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool import launch
from bhtool.errors import BulkheadError, Status
from bhtool.machine.bochs_kernel import CODE, DATA
from bhtool.machine.emulated import Machine, require_emulator
from bhtool.machine.memory import Memory
from bhtool.machine.wiring import Network, Wiring
from bhtool.platforms import Platform, load
from bhtool.provision import bochs
from bhtool.provision.progress import Report

from tests.claims import evidence
from tests.emulated.network import free_port

DISK = Path(__file__).parent / "fake_disk.S"
DISK_BYTES = 8 << 20
KERNEL = Path(__file__).parent / "fake_kernel.S"
ODD_MEGABYTE = 0x300000  # where address line 20 counts
INTERRUPTS, PROTECTED, PAGING = 1 << 9, 1, 1 << 31  # EFLAGS.IF, CR0.PE, CR0.PG
MARK, MARK_PLACE = 0x600DCAFE, 0x50000
LINE_BYTES = 4000
LIMIT_SECONDS = 60.0


@pytest.fixture
def machine_platform() -> Platform:
    platform = load("bochs-vtx")
    try:
        require_emulator(platform)
    except BulkheadError as missing:
        pytest.skip(str(missing))
    return platform


@pytest.fixture
def disk(tmp_path: Path) -> bytes:
    part, binary = tmp_path / "disk.o", tmp_path / "disk.bin"
    subprocess.run(["clang-19", "--target=x86_64-none-elf", "-c", "-o", part, DISK], check=True)
    subprocess.run(["ld.lld-19", "-Ttext=0x7c00", "--oformat=binary", "-o", binary, part], check=True)
    return binary.read_bytes().ljust(DISK_BYTES, b"\0")


def kernel(folder: Path, place: int) -> bytes:
    part, binary = folder / "kernel.o", folder / "kernel.elf"
    subprocess.run(["clang-19", "--target=x86_64-none-elf", "-c", "-o", part, KERNEL], check=True)
    subprocess.run(["ld.lld-19", f"-Ttext={place:#x}", "-o", binary, part], check=True)
    return binary.read_bytes()


def heard(machine: Machine, enough: Callable[[bytes], bool]) -> bytes:
    """What the machine says until there is enough of it, or it ends."""
    said, deadline = b"", time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < deadline and not enough(said):
        try:
            said += machine.serials["uart0"].recv(65536)
        except BlockingIOError:
            time.sleep(0.01)
    return said


@pytest.mark.slow
@pytest.mark.platform("bochs-vtx")
def test_a_machine_is_watched_while_it_runs_and_afterwards(machine_platform: Platform, disk: bytes) -> None:
    words = bytes(range(ord("a"), ord("z"))) * 4
    with Machine(machine_platform, disk, medium="disk") as machine:
        memory = Memory(machine_platform, machine.ram)
        line = heard(machine, lambda said: said.endswith(b"\n"))
        assert machine.exit_status() is None
        assert memory.read(MARK_PLACE, 4) == MARK.to_bytes(4, "little")
        machine.serials["uart0"].setblocking(True)
        machine.serials["uart0"].sendall(words)
        machine.serials["uart0"].setblocking(False)
        echo = heard(machine, lambda said: len(said) == len(words))
        assert 0 < (before := machine.guest_seconds()) < LIMIT_SECONDS
        machine.serials["uart0"].sendall(b"Z")
        deadline = time.monotonic() + LIMIT_SECONDS
        while machine.exit_status() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        assert machine.guest_seconds() >= before
        assert (machine.exit_status(), machine.complaint()) == (1, "Shutdown port: shutdown requested")
        assert memory.read(MARK_PLACE, 4) == MARK.to_bytes(4, "little")
    assert line == bytes(ord("a") + (count & 15) for count in range(LINE_BYTES, 0, -1)) + b"\n"
    assert echo == words.upper()


@pytest.mark.platform("bochs-vtx")
def test_a_machine_that_cannot_start_says_why(machine_platform: Platform) -> None:
    with (
        pytest.raises(BulkheadError, match=r"Bochs did not start: .*no-such-directive"),
        Machine(machine_platform, b"", medium="disk", extra=("no-such-directive: here",)),
    ):
        pass
    with pytest.raises(BulkheadError, match="no ELF file"), Machine(machine_platform, b"", medium="kernel"):
        pass


@pytest.mark.platform("bochs-vtx")
@pytest.mark.parametrize("network", [Network(), Network("user"), Network("host", ((0, 80), (0, 22)))])
@evidence("BH-F2.network")
def test_it_understands_how_its_card_is_connected(
    machine_platform: Platform, disk: bytes, network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in slirp's script is one that a machine goes on after, without a word unless it is told otherwise. Nothing is written to the current folder.

    A caller's frame may reach the card, which nobody started: that it is not ready is no complaint about the wiring."""
    monkeypatch.chdir(tmp_path)
    network = replace(network, forwards=tuple((free_port(), to) for _, to in network.forwards))
    found, told = sorted(tmp_path.iterdir()), ("error: action=report", "info: action=report")
    with Machine(machine_platform, disk, medium="disk", extra=told, wiring=Wiring({"nic0": network})) as machine:
        assert heard(machine, lambda said: said.endswith(b"\n"))
        for port, _ in network.forwards:
            socket.create_connection(("127.0.0.1", port), timeout=LIMIT_SECONDS).close()
        said = os.pread(machine._errors, 1 << 20, 0).decode()
    assert f"[NE2K0 ] {'slirp' if network.follows_host else 'null'} network driver" in said
    assert not re.findall(r"e\[(?:NE2K|SLIRP)(?!.*\] (?:device not ready to receive data|Failed to send packet)).*", said)
    assert sorted(tmp_path.iterdir()) == found


@pytest.mark.platform("bochs-vtx")
def test_an_image_is_entered_in_flat_protected_mode(machine_platform: Platform, tmp_path: Path) -> None:
    with Machine(machine_platform, kernel(tmp_path, ODD_MEGABYTE)) as machine:
        memory, deadline = Memory(machine_platform, machine.ram), time.monotonic() + LIMIT_SECONDS
        while (state := struct.unpack("<8I", memory.read(MARK_PLACE, 32)))[0] != MARK and time.monotonic() < deadline:
            time.sleep(0.01)
    mark, flags, cr0, *selectors, word = state
    assert mark == MARK
    assert not flags & INTERRUPTS
    assert cr0 & (PAGING | PROTECTED) == PROTECTED
    assert selectors == [CODE, DATA, DATA, DATA]
    assert word == 0x12345678


@pytest.mark.platform("bochs-vtx")
def test_an_image_outside_of_ram_is_not_started(machine_platform: Platform, tmp_path: Path) -> None:
    image = kernel(tmp_path, machine_platform.ram_size)
    with pytest.raises(BulkheadError, match=r"bytes at 0x80000000, which is not RAM"), Machine(machine_platform, image):
        pass


def test_without_bochs_its_platform_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BULKHEAD_CACHE", str(tmp_path))
    with pytest.raises(BulkheadError, match=r"bochs-vtx needs Bochs 3\.0.*: missing; run `tools/bulkhead setup`") as refusal:
        require_emulator(load("bochs-vtx"))
    assert refusal.value.status == Status.MISSING


@pytest.mark.parametrize("text", ["", "if (0) {\n", "  if (0) {\n  if (0) {\n"])
def test_text_of_another_bochs_is_refused(tmp_path: Path, text: str) -> None:
    edit = bochs.Edit("some.cc", "  if (0) {\n", "  if (1) {\n")
    (tmp_path / "some.cc").write_text(text)
    with pytest.raises(BulkheadError, match="not the one this tool knows how to mend"):
        edit.apply(tmp_path)
    assert (tmp_path / "some.cc").read_text() == text


def test_known_text_is_mended(tmp_path: Path) -> None:
    (tmp_path / "some.cc").write_text("a\n  if (0) {\nb\n  if (0) {\n")
    bochs.Edit("some.cc", "  if (0) {\n", "  if (1) {\n", times=2).apply(tmp_path)
    assert (tmp_path / "some.cc").read_text() == "a\n  if (1) {\nb\n  if (1) {\n"


def test_another_recipe_is_another_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    before = bochs.program()
    monkeypatch.setattr(bochs, "OPTIONS", (*bochs.OPTIONS, "--enable-e1000"))
    assert bochs.program() != before


def test_bochs_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fetching and compiling replaced by what they leave behind."""
    builds: list[Path] = []

    def fake_build(tree: Path, report: Report) -> Path:
        builds.append(tree)
        (tree.parent / "binary").write_text("binary")
        return tree.parent / "binary"

    def fake_fetch(directory: Path, report: Report) -> Path:
        (directory / "text").write_text("text")
        subprocess.run(["tar", "cf", directory / bochs.TARBALL, "-C", directory, "text"], check=True)
        return directory / bochs.TARBALL

    monkeypatch.setenv("BULKHEAD_CACHE", str(tmp_path))
    monkeypatch.setattr(bochs, "fetch", fake_fetch)
    monkeypatch.setattr(bochs, "build", fake_build)
    said: list[str] = []
    for _ in range(2):
        bochs.ensure_bochs(said.append)
    assert len(builds) == 1
    assert "about 2 minutes" in said[0]
    assert bochs.program().read_text() == "binary"
    assert not bochs.lacking()


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["run", "--platform", "bochs-vtx"], True),
        (["bench", "--platform=bochs-vtx"], True),
        (["test", "--quick"], True),
        (["--yes", "test"], True),
        (["bench"], True),
        (["test", "--platform", "qemu-svm"], False),
        (["run"], False),
    ],
)
def test_bochs_is_built_for_those_who_need_it(arguments: list[str], wanted: bool) -> None:
    assert launch.wants_bochs(arguments) is wanted
