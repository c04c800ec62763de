# SPDX-License-Identifier: Apache-2.0
"""Writes initramfs archives: cpio "newc" as in the kernel's Documentation/driver-api/early-userspace/buffer-format.rst.

Reproducible: no time stamps, owners 0, inodes counted.
"""

import gzip
import stat
from dataclasses import dataclass, field


@dataclass
class Archive:
    entries: list[bytes] = field(default_factory=list)

    def add(self, name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)) -> None:
        path = name.encode() + b"\0"
        numbers = (len(self.entries) + 1, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0)
        header = b"070701" + b"".join(b"%08X" % number for number in numbers)
        self.entries.append(padded(header + path) + padded(data))

    def directory(self, name: str) -> None:
        self.add(name, stat.S_IFDIR | 0o755)

    def program(self, name: str, data: bytes) -> None:
        self.add(name, stat.S_IFREG | 0o755, data)

    def link(self, name: str, target: str) -> None:
        self.add(name, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, name: str, major: int, minor: int) -> None:
        self.add(name, stat.S_IFCHR | 0o600, device=(major, minor))

    def packed(self) -> bytes:
        """The archive, ended and compressed. The archive itself stays as it is."""
        trailer = Archive(list(self.entries))
        trailer.add("TRAILER!!!", 0)
        return gzip.compress(b"".join(trailer.entries), mtime=0)


def padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
