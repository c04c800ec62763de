# SPDX-License-Identifier: Apache-2.0
"""BH-F2.contract. Images say for which version of the guest contract they were built: docs/versions.md."""

import struct

import pytest
from bhtool.abi import lib
from bhtool.config.native import read_elf
from bhtool.elf import NOTE, NOTE_BYTES, PT_NOTE, Program, note
from hypothesis import given
from hypothesis import strategies as st

from tests.config.software import LINK, MACHINE, contract_elf, elf


@pytest.mark.parametrize("arch", LINK)
def test_what_an_image_says(arch: str) -> None:
    machine, address = MACHINE[arch], LINK[arch]
    assert read_elf(contract_elf(machine, address, lib.BH_INFO_VERSION), "x").contract == lib.BH_INFO_VERSION
    assert read_elf(contract_elf(machine, address, 7), "x").contract == 7
    assert read_elf(contract_elf(machine, address, 7, b"GNU\0"), "x").contract is None
    assert read_elf(elf(machine, address), "x").contract is None


@given(st.binary(max_size=64))
def test_no_note_is_too_odd(junk: bytes) -> None:
    """Lengths that lie lead nowhere: at most, the image says nothing."""
    whole = contract_elf(MACHINE["aarch64"], LINK["aarch64"], 7)
    said = read_elf(whole[: -len(junk) or None] + junk, "x").contract
    assert said is None or 0 <= said < 1 << 32


def test_notes_without_end_are_not_looked_through() -> None:
    """However long they are, and however many program headers name them: what lies after the bound counts for nothing."""
    junk = struct.pack("<III", 0, 0, 1) * (NOTE_BYTES // NOTE.size + 1)
    wanted = struct.pack("<III", 9, 4, 1) + b"Bulkhead\0".ljust(12, b"\0") + bytes(4)
    data = junk + wanted
    whole = Program(PT_NOTE, 4, 0, 0, 0, len(data), len(data), 4)
    last = Program(PT_NOTE, 4, len(junk), 0, 0, len(wanted), len(wanted), 4)
    assert note(data, [last], b"Bulkhead\0", 1) == bytes(4)
    assert note(data, [whole], b"Bulkhead\0", 1) is None
    assert note(data, [whole] * 60_000 + [last], b"Bulkhead\0", 1) is None
