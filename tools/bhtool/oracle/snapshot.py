# SPDX-License-Identifier: Apache-2.0
"""A machine that stands still: its RAM by physical address, and registers that only a debugger can read."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

FRAME = 0x1000
FRAME_WORDS = struct.Struct("<512Q")


@dataclass(frozen=True)
class Snapshot:
    base: int
    ram: memoryview = field(repr=False)
    registers: Mapping[int, Mapping[str, int]] = field(default_factory=dict)  # by machine core
    iommu: Mapping[int, int] = field(default_factory=dict)  # its registers, by offset
    changed: Mapping[int, int] = field(default_factory=dict)  # 64-bit words laid over RAM, by address

    def holds(self, address: int, size: int = 8) -> bool:
        return self.base <= address and address + size <= self.base + len(self.ram)

    def word(self, address: int) -> int:
        """The aligned 64-bit word there."""
        if address in self.changed:
            return self.changed[address]
        (found,) = struct.unpack_from("<Q", self.ram, address - self.base)
        return int(found)

    def words(self, frame: int) -> tuple[int, ...]:
        """The 512 words of a frame."""
        found = list(FRAME_WORDS.unpack_from(self.ram, frame - self.base))
        for address, word in self.changed.items():
            if address & ~(FRAME - 1) == frame:
                found[(address - frame) // 8] = word
        return tuple(found)

    def half(self, address: int) -> int:
        """The aligned 32-bit word there."""
        return self.word(address & ~7) >> 8 * (address & 4) & 0xFFFFFFFF

    def frame(self, frame: int) -> bytes:
        return FRAME_WORDS.pack(*self.words(frame))

    def changing(self, address: int, word: int) -> Snapshot:
        """The same machine with another word there."""
        return replace(self, changed={**self.changed, address: word})
