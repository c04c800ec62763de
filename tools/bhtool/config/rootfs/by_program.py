# SPDX-License-Identifier: Apache-2.0
"""Compressions that Python does not know, unpacked by Debian's programs: zstd, which Debian's own initial RAM disks have, lz4 and lzo."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from types import TracebackType

PROGRAMS = {"zstd": "zstd", "lz4": "lz4", "lzo": "lzop"}  # Debian's packages are called like them
ENDS_SECONDS = 10  # of the host, once its output has been read or is not wanted any more
MOST_BLOCKS = 1 << 18  # of a zstd frame; whole ones hold 128 KiB each, 32 GiB together
# RFC 8878, 3.1.1 "Zstandard Frames".
ZSTD_MAGIC_BYTES, FRAME_SIZE_BYTES, DICTIONARY_BYTES = 4, (0, 2, 4, 8), (0, 1, 2, 4)
SINGLE_SEGMENT, CHECKSUM, CHECKSUM_BYTES = 1 << 5, 1 << 2, 4
BLOCK_HEADER, LAST_BLOCK, REPEATED = 3, 1, 1


class Unpacking:
    """What a program makes of compressed bytes, read as it comes. Use as a context manager: leaving it ends the program."""

    def __init__(self, data: memoryview, program: str) -> None:
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            self._run = subprocess.Popen([program, "-dc"], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def __enter__(self) -> Unpacking:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._run.kill()
        self._run.communicate(timeout=ENDS_SECONDS)

    def take(self, size: int) -> bytes:
        """So many bytes, fewer at the end."""
        assert self._run.stdout is not None
        return self._run.stdout.read(size)

    def ends_well(self) -> bool:
        """After the last byte: whether the program understood all that it was given."""
        return self._run.wait(ENDS_SECONDS) == 0


def program_for(compression: str) -> str | None:
    """Its path; None: it is not installed."""
    return shutil.which(PROGRAMS[compression])


def length_of(compression: str, data: memoryview) -> int | None:
    """
    Of the first compressed part, where its form says that: else all there is, and what follows it the program will not understand. None: it
    has more than MOST_BLOCKS.
    """
    size = _zstd_frame(data) if compression == "zstd" else len(data)
    return None if size is None else min(size, len(data))


def _zstd_frame(data: memoryview) -> int | None:
    """Beyond the end of data: it is cut short."""
    descriptor = data[ZSTD_MAGIC_BYTES] if len(data) > ZSTD_MAGIC_BYTES else 0
    single = bool(descriptor & SINGLE_SEGMENT)
    size = FRAME_SIZE_BYTES[descriptor >> 6] or int(single)
    at = ZSTD_MAGIC_BYTES + 1 + int(not single) + DICTIONARY_BYTES[descriptor & 3] + size
    for _ in range(MOST_BLOCKS):
        if at + BLOCK_HEADER > len(data):
            return len(data) + 1
        header = int.from_bytes(data[at : at + BLOCK_HEADER], "little")
        at += BLOCK_HEADER + (1 if header >> 1 & 3 == REPEATED else header >> 3)
        if header & LAST_BLOCK:
            return at + (CHECKSUM_BYTES if descriptor & CHECKSUM else 0)
    return None
