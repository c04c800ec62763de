# SPDX-License-Identifier: Apache-2.0
"""What lies in an archive, by name, and files unpacked as they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from typing import IO

from bhtool.config.rootfs.contents import Unfit, inspect


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
    """Every name in an initial RAM disk, in all of its archives; None: this tool cannot look into it, or not into all of it."""
    try:
        contents = inspect(data)
    except Unfit:
        return None
    return contents.names if contents.is_whole else None
