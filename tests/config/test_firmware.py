# SPDX-License-Identifier: Apache-2.0
"""BH-I1.dma, BH-I7.tool. Memory that firmware lets devices use for ever: what the tables of an IOMMU name, and what of it a board tree gives away."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.config.board import read_board
from bhtool.config.firmware import Kept, given_away, parse, require_kept
from bhtool.config.span import Span
from bhtool.errors import BulkheadError
from bhtool.platforms import load
from hypothesis import given
from hypothesis import strategies as st

MIB = 1 << 20
PLATFORM = "qemu-svm-vtd"


def table(signature: bytes, *blocks: bytes) -> bytes:
    body = b"".join(blocks)
    whole = bytearray(struct.pack("<4sIBB38x", signature, 48 + len(body), 1, 0) + body)
    whole[9] = -sum(whole) & 0xFF
    return bytes(whole)


def scope(bus: int, *path: tuple[int, int]) -> bytes:
    return struct.pack("<BBHBB", 1, 6 + 2 * len(path), 0, 0, bus) + bytes(part for one in path for part in one)


def rmrr(base: int, limit: int, *scopes: bytes, segment: int = 0) -> bytes:
    tail = b"".join(scopes)
    return struct.pack("<HHHHQQ", 1, 24 + len(tail), 0, segment, base, limit) + tail


def ivmd(kind: int, start: int, size: int, first: int = 0, last: int = 0) -> bytes:
    return struct.pack("<BBHHHQQQ", kind, 1, 32, first, last, 0, start, size)


DRHD = struct.pack("<HHBBHQ", 0, 16, 1, 0, 0, 0xFED90000)
IVHD = struct.pack("<BBHHHQHHI", 0x10, 0, 24, 8, 0, 0xFED80000, 0, 0, 0)


def refused(name: str, content: bytes) -> str:
    with pytest.raises(BulkheadError) as found:
        parse(name, content)
    return str(found.value)


def test_what_vt_d_names_is_found() -> None:
    usb, behind = scope(0, (0x14, 0)), scope(0, (0x1C, 4), (0, 1))
    content = table(b"DMAR", DRHD, rmrr(0x7000_0000, 0x7000_FFFF, usb, behind), rmrr(0x1000, 0x1FFF, segment=1))
    assert parse("dmar.dat", content) == [
        Kept(Span(0x7000_0000, 0x10000), "00:14.0, 00:1c.4/00.1"),
        Kept(Span(0x1000, 0x1000), "unnamed functions of segment 1"),
    ]


def test_what_amd_vi_names_is_found() -> None:
    rows = ivmd(0x20, MIB, 0x2000), ivmd(0x21, 2 * MIB, 0x1000, 0xA0), ivmd(0x22, 3 * MIB, 0x1000, 0x100, 0x1FF)
    assert [(one.span.start, one.functions) for one in parse("ivrs.dat", table(b"IVRS", IVHD, *rows))] == [
        (MIB, "every function"),
        (2 * MIB, "00:14.0"),
        (3 * MIB, "01:00.0 to 01:1f.7"),
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "neither"),
        (table(b"FACP"), "neither"),
        (table(b"DMAR", DRHD)[:-1], "cut short"),
        (table(b"DMAR", DRHD)[:-1] + b"\x01", "cut short or changed"),
        (table(b"DMAR", struct.pack("<HH", 0, 0)), "claims 0 bytes"),
        (table(b"IVRS", struct.pack("<HH", 0x10, 5)), "claims 5 bytes"),
        (table(b"DMAR", struct.pack("<HHI", 1, 8, 0)), "no table that firmware writes"),
        (table(b"DMAR", rmrr(0x2000, 0x1000)), "before it begins"),
        (table(b"DMAR", rmrr(0x1000, 0x1FFF, b"\x01\x06\0\0\0\0")), "device scope claims 6 bytes"),
        (table(b"IVRS", struct.pack("<BBHI", 0x21, 0, 8, 0)), "no table that firmware writes"),
    ],
)
def test_what_is_no_table_is_refused(content: bytes, why: str) -> None:
    assert why in refused("t.dat", content)


@given(st.sampled_from([b"DMAR", b"IVRS"]), st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(signature: bytes, body: bytes) -> None:
    try:
        found = parse("t.dat", table(signature, body))
    except BulkheadError:
        return
    assert all(one.span.size >= 0 for one in found)


def test_what_the_board_tree_keeps_is_no_trouble(tmp_path: Path) -> None:
    machine, file = read_board(load(PLATFORM)), tmp_path / "dmar.dat"
    kept = machine.reserved[-1]
    file.write_bytes(table(b"DMAR", DRHD, rmrr(kept.start, kept.end - 1), rmrr(0xFED0_0000, 0xFED0_FFFF)))
    require_kept(machine, PLATFORM, [file])
    file.write_bytes(table(b"DMAR", DRHD, rmrr(kept.start - 0x1000, kept.end - 1, scope(0, (2, 0)))))
    with pytest.raises(BulkheadError) as found:
        require_kept(machine, PLATFORM, [file])
    text = f"firmware lets 00:02.0 use {kept.start - 0x1000:#x}..{kept.end - 1:#x} for ever, and the board tree gives "
    assert str(found.value).startswith(f"{text}{kept.start - 0x1000:#x}..{kept.start - 1:#x} of it away; put it into `reserved`")


def test_what_is_left_of_a_range_is_told_piece_by_piece() -> None:
    kept = [Span(0x2000, 0x1000), Span(0x5000, 0x1000), Span(0x5800, 0x1000)]
    machine = replace(read_board(load(PLATFORM)), ram=[Span(0, 0x9000)], reserved=kept)
    whole = Kept(Span(0x1000, 0x10000), "")
    assert [(one.start, one.end) for _, one in given_away(machine, [whole])] == [(0x1000, 0x2000), (0x3000, 0x5000), (0x6800, 0x9000)]
