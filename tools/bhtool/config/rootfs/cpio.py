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

    def add(self, name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0), number: int = 0, links: int = 1) -> None:
        """number: the inode's, which hard links share; the first of them is counted as any other."""
        path = name.encode() + b"\0"
        numbers = (number or len(self.entries) + 1, mode, 0, 0, links, 0, len(data), 0, 0, *device, len(path), 0)
        header = b"070701" + b"".join(b"%08X" % number for number in numbers)
        self.entries.append(padded(header + path) + padded(data))

    def directory(self, name: str) -> None:
        self.add(name, stat.S_IFDIR | 0o755)

    def program(self, name: str, data: bytes) -> None:
        self.add(name, stat.S_IFREG | 0o755, data)

    def file(self, name: str, data: bytes) -> None:
        self.add(name, stat.S_IFREG | 0o644, data)

    def link(self, name: str, target: str) -> None:
        self.add(name, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, name: str, major: int, minor: int) -> None:
        self.add(name, stat.S_IFCHR | 0o600, device=(major, minor))

    def plain(self) -> bytes:
        """The archive, ended. The archive itself stays as it is."""
        trailer = Archive(list(self.entries))
        trailer.add("TRAILER!!!", 0)
        return b"".join(trailer.entries)

    def packed(self) -> bytes:
        """The same, compressed."""
        return gzip.compress(self.plain(), mtime=0)


def padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
