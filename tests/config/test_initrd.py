# SPDX-License-Identifier: Apache-2.0
"""BH-F1.initrd. Initial RAM disks are read as Linux unpacks them, whatever they are packed with, and whatever somebody calls one."""

import bz2
import gzip
import lzma
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress

import pytest
from bhtool.config.check_initrd import doubts, kernel_bytes
from bhtool.config.payload import PayloadError, Room
from bhtool.config.rootfs import contents as contents_module
from bhtool.config.rootfs.by_program import MOST_BLOCKS, PROGRAMS
from bhtool.config.rootfs.contents import MOST_PARTS, NAME_BYTES, PAGE, Unfit, inspect
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.config.software import arm64_kernel, root_file_system, x86_kernel

MIB = 1 << 20
PLAIN = root_file_system(init=b"#!/bin/sh\n", library=bytes(PAGE + 1))
FORMS = {
    "plain": PLAIN,
    "gzip": gzip.compress(PLAIN),
    "bzip2": bz2.compress(PLAIN),
    "xz": lzma.compress(PLAIN, check=lzma.CHECK_CRC32),
    "lzma": lzma.compress(PLAIN, format=lzma.FORMAT_ALONE),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_counted(name: str) -> None:
    contents = inspect(FORMS[name])
    assert (contents.unpacked, contents.has_init, contents.is_whole) == (3 * PAGE, True, True)
    assert contents.compressions == ([] if name == "plain" else [name])


@pytest.mark.parametrize("first", FORMS)
@pytest.mark.parametrize("second", FORMS)
def test_archives_may_follow_each_other(first: str, second: str) -> None:
    """As early microcode and a root file system do."""
    contents = inspect(FORMS[first] + bytes(-len(FORMS[first]) % 512) + FORMS[second])
    assert contents.unpacked == 6 * PAGE


def by_program(name: str, data: bytes) -> bytes:
    """Skips where Debian's program is not installed."""
    if not (program := shutil.which(PROGRAMS[name])):
        pytest.skip(f"{PROGRAMS[name]} is not installed")
    legacy = ["-l"] if name == "lz4" else []  # the form that Linux unpacks
    return subprocess.run([program, *legacy, "-c"], input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


@pytest.mark.parametrize("name", ["zstd", "lz4"])
def test_debians_programs_measure_the_others(name: str) -> None:
    contents = inspect(PLAIN + by_program(name, PLAIN))
    assert (contents.unpacked, contents.has_init, contents.is_whole) == (6 * PAGE, True, True)
    assert contents.compressions == [name]


def test_what_follows_zstd_is_measured() -> None:
    """As kernel modules do that are packed here."""
    packed = by_program("zstd", PLAIN + bytes(MIB) + PLAIN)
    contents = inspect(packed + bytes(-len(packed) % 4) + FORMS["gzip"] + packed)
    assert (contents.unpacked, contents.is_whole) == (15 * PAGE, True)
    for cut in (packed[:-9], packed[:40], packed[:5], packed[:30] + b"x" * 20 + packed[50:]):
        with pytest.raises(Unfit, match=r"damaged|cut short"):
            inspect(cut)


def test_blocks_are_counted() -> None:
    """Three bytes each may hold nothing: a file of zeros after the magic number kept the tool busy for minutes."""
    with pytest.raises(Unfit, match=f"has more than {MOST_BLOCKS:,} blocks of zstd data"):
        inspect(b"\x28\xb5\x2f\xfd" + bytes(4 * MOST_BLOCKS))


def test_what_follows_lz4_is_not_guessed_at() -> None:
    contents = inspect(by_program("lz4", PLAIN) + b"\x7f\x7f\x7f\x7f" + FORMS["gzip"])
    assert (contents.unpacked, contents.is_whole) == (3 * PAGE, False)
    assert "after its lz4 data" in contents.unmeasured


def test_an_initrd_by_zstd_has_to_fit() -> None:
    """What Debian's own initial RAM disks are packed with."""
    packed, kernel = by_program("zstd", root_file_system(init=bytes(70 * MIB))), arm64_kernel(4 * MIB)
    with pytest.raises(PayloadError) as refused:
        list(doubts(packed, "r.zst", kernel, "aarch64", "", Room(0, 64 * MIB)))
    assert refused.value.rule == "BH-R131"


@pytest.mark.parametrize("magic", [b"\x02\x21\x4c\x18", b"\x28\xb5\x2f\xfd", b"\x89\x4c\x5a\x4f"], ids=["lz4", "zstd", "lzo"])
def test_what_cannot_be_measured_is_said(magic: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    data = PLAIN + magic + b"anything " + os.urandom(8)
    contents = inspect(data)
    assert (contents.unpacked, contents.is_whole) == (3 * PAGE, False)
    said = list(doubts(data, "r.img", arm64_kernel(4 * MIB), "aarch64", "", Room(0, 64 * MIB)))
    assert len(said) == 1
    assert "is not installed, so whether it fits into 64 MiB is not known" in said[0]


def header(size: bytes = b"0" * 8, name_size: bytes = b"0000000b") -> bytes:
    """Of a cpio archive's end."""
    return b"070701" + b"0" * 48 + size + b"0" * 32 + name_size + b"0" * 8 + b"TRAILER!!!".ljust(14, b"\0")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (header(size=b"-000007C"), "no numbers"),
        (header(size=b"0x00007C"), "no numbers"),
        (header(size=b"0000_07C"), "no numbers"),
        (header(size=b" 000007C"), "no numbers"),
        (header(name_size=b"7ffffff0"), "a name in its cpio archive has 2,147,483,632 bytes, 4,096 are the most"),
        (header(name_size=b"%08x" % (NAME_BYTES + 1)), "has 4,097 bytes"),
    ],
    ids=["sign", "prefix", "underscore", "space", "long name", "a byte too long"],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
def test_no_header_sends_a_reader_back_or_far(pack: Callable[[bytes], bytes], data: bytes, words: str) -> None:
    """Forward by no number, it would read for ever; and a name is read whole."""
    with pytest.raises(Unfit, match=words):
        inspect(pack(data))


@pytest.mark.parametrize(
    "data",
    [header() * (MOST_PARTS + 1), gzip.compress(header() * (MOST_PARTS + 1)), gzip.compress(b"") * (MOST_PARTS + 1)],
    ids=["plain", "packed", "empty"],
)
def test_archives_are_counted(data: bytes) -> None:
    with pytest.raises(Unfit, match="more than 64 archives"):
        inspect(data)


@pytest.mark.parametrize("name", [one for one in FORMS if one != "plain"])
def test_what_is_unpacked_is_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all parts together."""
    monkeypatch.setattr(contents_module, "LIMIT", 2 * len(PLAIN))
    inspect.cache_clear()
    assert inspect(FORMS[name] * 2).unpacked == 6 * PAGE
    with pytest.raises(Unfit, match="unpacks to more than"):
        inspect(FORMS[name] * 3)


def test_names_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents_module, "KEPT", 700)
    inspect.cache_clear()
    with pytest.raises(Unfit, match="more files than can be looked at"):
        inspect(PLAIN)


def test_padding_is_passed_over_in_one_go() -> None:
    """Byte by byte, each of which moved all the rest, took hours."""
    assert inspect(gzip.compress(PLAIN + bytes(16 * MIB) + PLAIN)).unpacked == 6 * PAGE


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"#!/bin/sh\n" * 50, "neither a cpio archive"),
        (b"070707" + bytes(200), "old form"),
        (b"\x27\x05\x19\x56" + bytes(200), "wrapped for U-Boot"),
        (bytes(257).replace(b"\0", b"n", 1) + b"ustar" + bytes(250), "is a tar in a compression that this tool does not open"),
        (PLAIN[:300], "cut short"),
        (FORMS["xz"][:-8], "cut short"),
        (FORMS["gzip"][:10] + b"\xff" * 60, "damaged"),
        (gzip.compress(b"text" * 100), "neither a cpio archive"),
        (bytes(1000), "holds no file"),
        (b"070701" + b"Z" * 200, "no numbers"),
    ],
    ids=["text", "odc", "uimage", "tar", "cut cpio", "cut xz", "damaged gzip", "packed text", "zeros", "no numbers"],
)
def test_what_linux_cannot_unpack_is_named(data: bytes, words: str) -> None:
    with pytest.raises(Unfit, match=words):
        inspect(data)


@given(st.one_of(st.binary(max_size=600), st.builds(lambda cut, more: PLAIN[:cut] + more, st.integers(0, 400), st.binary(max_size=60))))
@settings(max_examples=200, deadline=None)
def test_whatever_it_is_there_is_an_answer(data: bytes) -> None:
    with suppress(Unfit):
        inspect(data)


def said(files: int, room: int, bootargs: str = "", **names: bytes) -> list[str]:
    """Of an archive of so many MiB in so many MiB of RAM."""
    names = names or {"init": bytes(files * MIB)}
    return list(doubts(gzip.compress(root_file_system(**names)), "r.gz", arm64_kernel(4 * MIB), "aarch64", bootargs, Room(0, room * MIB)))


def test_half_of_memory_is_what_linux_gives_its_first_root_file_system() -> None:
    assert said(20, 64) == []
    assert "half of its memory, here 30 MiB" in said(40, 64)[0]
    assert said(40, 64, "rootfstype=ramfs") == []
    with pytest.raises(PayloadError) as refused:
        said(70, 64)
    assert (refused.value.rule, refused.value.property) == ("BH-R131", "initrd")


def test_without_init_something_else_has_to_be_named() -> None:
    assert "no /init" in said(0, 64, etc=b"")[0]
    assert said(0, 64, "quiet root=/dev/vda", etc=b"") == []


def test_kernels_say_what_they_take() -> None:
    assert kernel_bytes(arm64_kernel(9 * MIB), "aarch64") == 9 * MIB
    assert kernel_bytes(x86_kernel(7 * MIB), "x86_64") == 7 * MIB
    assert kernel_bytes(bytes(5000), "armv7") == 5000
