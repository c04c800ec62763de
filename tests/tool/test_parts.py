# SPDX-License-Identifier: Apache-2.0
"""The small parts: console cleaning, initramfs archives, versions, tallies, platforms."""

import gzip
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from bhtool import platforms
from bhtool.config.rootfs.cpio import Archive
from bhtool.documents.lines import code_lines
from bhtool.errors import BulkheadError, Status
from bhtool.image.payloads import initramfs_bytes, plain_image
from bhtool.machine.console import LONGEST_LINE, Lines, printable
from bhtool.provision.needs import Need, lacking
from bhtool.testing.tally import Tally
from hypothesis import given
from hypothesis import strategies as st


@given(st.binary(max_size=200), st.integers(1, 50))
def test_lines_do_not_depend_on_how_they_arrive(data: bytes, cut: int) -> None:
    whole, pieces = Lines(), Lines()
    expected = whole.feed(data) + whole.flush()
    found = [line for start in range(0, len(data), cut) for line in pieces.feed(data[start : start + cut])]
    assert found + pieces.flush() == expected


def test_a_sandbox_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b[2Jb\x1b]0;title\x07c\x9b\r\x00") == "ab0;titlec"
    assert printable("a\u202eb\u200bc\u2028d é") == "abcd é"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (b"10%\r50%\r100%", "100%"),
        (b"10%\r\x1b[K100%\r", "100%"),
        (b"a line of DOS\r", "a line of DOS"),
        (b"\r\r\x1b[2K", ""),
        (b"\rlogin: ", "login: "),
    ],
)
def test_a_progress_bar_is_its_last_state(said: bytes, text: str) -> None:
    lines = Lines()
    assert lines.feed(said + b"\n") == [text]
    lines.feed(said)
    assert lines.unfinished == text
    assert lines.flush() == [text] * bool(text)


def test_an_endless_line_is_cut() -> None:
    assert [len(line) for line in Lines().feed(b"x" * (2 * LONGEST_LINE + 1))] == [LONGEST_LINE, LONGEST_LINE]


def test_initramfs_is_a_reproducible_cpio_archive(tmp_path: Path) -> None:
    packed = initramfs_bytes(b"#!busybox")
    assert packed == initramfs_bytes(b"#!busybox")
    archive = gzip.decompress(packed)
    assert len(archive) % 4 == 0
    names: list[str] = []
    at = 0
    while not names or names[-1] != "TRAILER!!!":
        assert archive[at : at + 6] == b"070701"
        size, name_size = int(archive[at + 54 : at + 62], 16), int(archive[at + 94 : at + 102], 16)
        names.append(archive[at + 110 : at + 110 + name_size - 1].decode())
        at = (at + 110 + name_size + 3) // 4 * 4 + (size + 3) // 4 * 4
    assert at == len(archive)
    assert {"init", "bin/busybox", "bin/sh", "dev/console"} <= set(names)


def test_packing_leaves_the_archive_as_it_was() -> None:
    archive = Archive()
    archive.directory("a")
    assert archive.packed() == archive.packed()


def test_only_a_plain_or_gzipped_image_is_a_kernel() -> None:
    image = bytes(56) + b"ARM\x64" + bytes(4)
    assert plain_image(image) == plain_image(gzip.compress(image)) == image
    with pytest.raises(BulkheadError, match="neither"):
        plain_image(b"MZ" + bytes(100))


def tool(folder: Path, version: str) -> Need:
    program = folder / "emulator"
    program.write_text(f"#!/bin/sh\necho 'emulator version {version} (Debian)'\n")
    program.chmod(0o755)
    return Need("some-package", "emulator", "test", (10, 0))


@pytest.mark.parametrize(
    ("version", "why"), [("7.2.19", "version 7.2.19 is too old, 10.0 or newer is needed"), ("10.0.2", ""), ("11.1", "")]
)
def test_an_old_emulator_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, why: str) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert lacking(tool(tmp_path, version)) == why


def test_a_missing_program_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert lacking(Need("some-package", "emulator", "test")) == "missing"
    assert lacking(Need("some-package", "/no/such/file-*|/proc/self/stat", "test")) == ""


def test_tally_counts_what_junit_says(tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    file.write_text(
        '<testsuites><testsuite name="s"><testcase classname="a" name="good"/><testcase classname="a" name="bad"><failure message="m"/></testcase>'
        '<testcase classname="a" name="broken"><error/></testcase><testcase classname="a" name="not"><skipped message="no KVM"/></testcase>'
        "</testsuite></testsuites>"
    )
    tally = Tally()
    tally.add_junit(file)
    tally.add_junit(tmp_path / "absent.xml")
    assert tally.last_line() == "1 passed, 2 failed, 1 skipped"
    assert (tally.failed, tally.skipped) == (["a::bad", "a::broken"], ["a::not: no KVM"])
    tally.write_junit(file)
    assert len(ET.parse(file).getroot().findall(".//testcase")) == 4


def test_code_lines_leave_out_comments_and_blanks() -> None:
    assert code_lines("/* a\n * b */\nint x; /* c */\n\n// d\nint y;\n") == 2


def test_every_platform_is_complete() -> None:
    for platform in platforms.every():
        assert platform.board.is_file()
        assert platform.cross_file.is_file()
        assert platform.emulator.serials
    with pytest.raises(BulkheadError) as refusal:
        platforms.load("no-such-board")
    assert refusal.value.status == Status.USAGE
