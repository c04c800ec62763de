# SPDX-License-Identifier: Apache-2.0
"""What a cpio archive holds, by name: Linux, Documentation/driver-api/early-userspace/buffer-format.rst ("newc", compressed or not)."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from typing import IO

from bhtool.config.bounded import IMAGE_BYTES

HEADER, FIELDS, MAGICS, LAST = 110, 13, (b"070701", b"070702"), "TRAILER!!!"
SIZE, NAME_BYTES = 6, 11  # fields
NAME_MOST = 4096


def opened(file: IO[bytes]) -> IO[bytes] | io.BufferedIOBase:
    """Unpacked as far as this tool can; what it cannot is left as it is."""
    start = file.read(6)
    file.seek(0)
    if start[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=file)
    if start == b"\xfd7zXZ\x00" or start[:3] == b"\x5d\0\0":
        return lzma.LZMAFile(file)
    return bz2.BZ2File(file) if start[:3] == b"BZh" else file


def names_in(data: bytes) -> set[str] | None:
    """Every name of the first archive in it; None: this tool cannot look into it."""
    try:
        with opened(io.BytesIO(data)) as file:
            return set(_names(file))
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error):
        return None


def _names(file: IO[bytes] | io.BufferedIOBase) -> Iterator[str]:
    """Raises ValueError where it is no archive, or has no end that makes sense."""
    left = IMAGE_BYTES * 4
    while left > 0:
        header = file.read(HEADER)
        if header[:6] not in MAGICS:
            raise ValueError("no header")
        fields = [int(header[6 + 8 * n : 14 + 8 * n], 16) for n in range(FIELDS)]
        length, size = fields[NAME_BYTES], fields[SIZE]
        if not 0 < length <= NAME_MOST:
            raise ValueError("no name")
        name = file.read(length + (-(HEADER + length) % 4))[: length - 1].decode("utf-8", "surrogateescape")
        if name == LAST:
            return
        yield name.removeprefix("./").strip("/")
        left -= HEADER + length + size
        skipped = size + (-size % 4)
        while skipped > 0:
            part = file.read(min(skipped, 1 << 20))
            if not part:
                raise ValueError("cut short")
            skipped -= len(part)
    raise ValueError("no end")
