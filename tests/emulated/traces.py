# SPDX-License-Identifier: Apache-2.0
"""Where in the machine's memory the frames of tests/guests/probe/dma.c lie, looked at from outside."""

import os

FRAME = bytes(n * 0x1D & 0xFF ^ 0x5A for n in range(64))
BLOCK = 1 << 20


def holds(ram: int, base: int) -> list[int]:
    """Physical addresses. `ram`: the machine's memory as a file, whose holes are frames that nobody has written."""
    found, at = [], 0
    end = os.fstat(ram).st_size
    while at < end:
        try:
            at = os.lseek(ram, at, os.SEEK_DATA)
        except OSError:  # ENXIO: holes alone follow
            break
        data = os.pread(ram, BLOCK + len(FRAME), at)
        place = data.find(FRAME)
        while 0 <= place < BLOCK:
            found.append(base + at + place)
            place = data.find(FRAME, place + 1)
        at += BLOCK
    return found
