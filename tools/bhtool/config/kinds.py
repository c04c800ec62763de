# SPDX-License-Identifier: Apache-2.0
"""What kind of image a file looks like, for whoever gave the wrong one."""

from __future__ import annotations

BEGINNINGS = ((0, b"\x7fELF", "an ELF file"), (0, b"\x1f\x8b", "something compressed by gzip"), (56, b"ARM\x64", "an arm64 Image"),
              (0x24, b"\x18\x28\x6f\x01", "an ARM zImage"), (0x202, b"HdrS", "an x86 bzImage"), (0, b"\x27\x05\x19\x56", "a U-Boot image"),
              (0, b"070701", "a cpio archive"), (0, b"MZ", "an EFI program"))  # fmt: skip


def looks_like(data: bytes) -> str:
    """The end of a sentence that begins with a file's name."""
    found = next((what for at, magic, what in BEGINNINGS if data[at : at + len(magic)] == magic), "")
    return f"it looks like {found}" if found else "it is of no kind that is known here"
