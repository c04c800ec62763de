# SPDX-License-Identifier: Apache-2.0
"""What an initial RAM disk holds, as Linux will unpack it: archives one after the other, each plain or compressed (init/initramfs.c).

Nothing here believes a size it has not counted, and nothing is kept but names and the heads of files: LIMIT bounds what is unpacked, KEPT what is kept.
"""

from __future__ import annotations

import bz2
import functools
import lzma
import re
import stat
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from bhtool.config.rootfs.by_program import MOST_BLOCKS, PROGRAMS, Unpacking, length_of, program_for

LIMIT = 4 << 30  # unpacked bytes, of all parts together
KEPT, EACH = 256 << 20, 256  # bytes of memory for names and heads; for each file besides
MOST_PARTS = 64  # archives one after the other
NAME_BYTES = 4096  # PATH_MAX, with its NUL
CHUNK = 1 << 20
MOST_MEMORY = 1 << 28  # for a dictionary
PAGE = 4096
HEAD_BYTES = 256  # of each regular file
HEADER_BYTES, NEWC = 110, (b"070701", b"070702")  # Documentation/driver-api/early-userspace/buffer-format.rst
FIELDS = re.compile(rb"[0-9A-Fa-f]{104}")  # 13 of 8 digits; int() takes signs and underscores, too
TRAILER = "TRAILER!!!"
# What Linux knows by its first bytes, lib/decompress.c.
COMPRESSIONS = {
    b"\x1f\x8b": "gzip", b"\x1f\x9e": "gzip", b"BZ": "bzip2", b"\x5d\x00": "lzma", b"\xfd7": "xz", b"\x89\x4c": "lzo", b"\x02\x21": "lz4", b"\x28\xb5": "zstd",
}  # fmt: skip
OTHERS = (  # (offset, magic, what it is and what to do)
    (0, b"070707", "is a cpio archive of the old form: pack it with `cpio -o -H newc`"),
    (0, b"\xc7\x71", "is a cpio archive of the binary form: pack it with `cpio -o -H newc`"),
    (0, b"\x27\x05\x19\x56", "is wrapped for U-Boot: give the file that mkimage was given"),
    (0, b"\xd0\x0d\xfe\xed", "is a device tree or a FIT image: give the file that is in it"),
    (0, b"\x7fELF", "is an ELF file"),
    (257, b"ustar", "is a tar in a compression that this tool does not open: give it plain, or compressed by gzip, xz or bzip2"),
    (0x438, b"\x53\xef", "is a file system image (ext2 to ext4), for which no kernel of ours has a driver so early: pack what is in it with `cpio -o -H newc`"),
    (0, b"hsqs", "is a file system image (squashfs), for which no kernel of ours has a driver so early: pack what is in it with `cpio -o -H newc`"),
)  # fmt: skip


class Unfit(Exception):
    """Linux would make nothing of it; the text is a clause after the file's name."""


class Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class Gzip:
    """zlib's, with the interface of the others."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


DECOMPRESSORS: dict[str, Callable[[], Decompressor]] = {
    "gzip": Gzip,
    "bzip2": bz2.BZ2Decompressor,
    "lzma": lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, MOST_MEMORY),
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, MOST_MEMORY),
}


def only_linux_opens(data: bytes) -> str:
    """What an archive is compressed by, if Linux knows it and this module does not; else empty."""
    name = COMPRESSIONS.get(data[:2], "")
    return "" if name in DECOMPRESSORS else name


@dataclass(frozen=True)
class Entry:
    name: str
    mode: int
    size: int


@dataclass
class Contents:
    """What has been seen of an initrd."""

    compressions: list[str] = field(default_factory=list)
    unpacked: int = 0  # bytes of files, in whole pages as memory holds them
    is_whole: bool = True  # False: some of it could not be unpacked here, so that there is more
    unmeasured: str = ""  # why, as a clause after the file's name
    heads: dict[str, bytes] = field(default_factory=dict)  # of regular files
    links: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)  # of everything
    kept: int = 0  # bytes
    init_mode: int = 0  # of /init where it is a regular file
    parts: int = 0
    decompressed: int = 0  # bytes

    def begin(self) -> None:
        """Another part."""
        self.parts += 1
        if self.parts > MOST_PARTS:
            raise Unfit(f"has more than {MOST_PARTS} archives one after the other")

    def add(self, entry: Entry, head: bytes) -> None:
        name = entry.name.removeprefix("./").strip("/")
        self.names.add(name)
        self.kept += len(name) + len(head) + EACH
        if self.kept > KEPT:
            raise Unfit("lists more files than can be looked at")
        if stat.S_ISREG(entry.mode):
            self.heads[name] = head
            self.init_mode = entry.mode if name == "init" else self.init_mode
            self.unpacked += -(-entry.size // PAGE) * PAGE
        elif stat.S_ISLNK(entry.mode):
            self.links[name] = head.decode("utf-8", "replace")

    @property
    def cannot_start(self) -> bool:
        """/init is there, and nobody may execute it: Linux, fs/exec.c, needs one x bit, also of root's."""
        return stat.S_ISREG(self.init_mode) and not self.init_mode & 0o111

    @property
    def has_init(self) -> bool:
        return "init" in self.heads or "init" in self.links


@functools.lru_cache(maxsize=8)  # a partition file is compiled for several machines
def inspect(data: bytes) -> Contents:
    """Raises Unfit when Linux would not unpack it."""
    contents, rest = Contents(), memoryview(data)
    while rest := _without_zeros(rest):
        contents.begin()
        if bytes(rest[:6]) in NEWC:
            rest = rest[_read_archive(_Plain(rest), contents) :]
            continue
        name = COMPRESSIONS.get(bytes(rest[:2]))
        if name is None:
            raise Unfit(_what(bytes(rest[:1024])))
        contents.compressions.append(name)
        if name not in DECOMPRESSORS:
            rest = rest[_read_by_program(rest, name, contents) :]
            continue
        stream = _Packed(rest, DECOMPRESSORS[name](), name, contents)
        _read_archives(stream, contents)
        rest = rest[stream.end :]
    if not contents.heads and not contents.links and contents.is_whole:
        raise Unfit("holds no file")
    return contents


def _read_by_program(rest: memoryview, name: str, contents: Contents) -> int:
    """One compressed part; how many bytes that was. Without the program, or after what it understands, nothing more is measured."""
    program, size = program_for(name), length_of(name, rest)
    if size is None:
        raise Unfit(f"has more than {MOST_BLOCKS:,} blocks of {name} data")
    if program is None:
        contents.is_whole = False
        contents.unmeasured = f"is compressed by {name}, and `{PROGRAMS[name]}`, which measures it, is not installed"
        return len(rest)
    with Unpacking(rest[:size], program) as unpacking:
        before = contents.kept
        _read_archives(_ByProgram(unpacking, contents), contents)
        if not unpacking.ends_well():
            if before == contents.kept or name == "zstd":
                raise Unfit(f"is damaged: its {name} data cannot be unpacked")
            contents.is_whole, contents.unmeasured = False, f"has something after its {name} data"
    return size


def _without_zeros(rest: memoryview) -> memoryview:
    """Archives are padded."""
    for start in range(0, len(rest), CHUNK):
        chunk = bytes(rest[start : start + CHUNK])
        if kept := chunk.lstrip(b"\0"):
            return rest[start + len(chunk) - len(kept) :]
    return rest[:0]


def _what(head: bytes) -> str:
    for offset, magic, words in OTHERS:
        if head[offset : offset + len(magic)] == magic:
            return words
    known = ", ".join(dict.fromkeys(COMPRESSIONS.values()))
    return f"is neither a cpio archive of the form newc nor compressed as Linux unpacks it ({known})"


class _Stream(Protocol):
    def take(self, size: int) -> bytes:
        """So many bytes, fewer at the end."""


class _Plain:
    def __init__(self, data: memoryview) -> None:
        self._data, self.at = data, 0

    def take(self, size: int) -> bytes:
        found = bytes(self._data[self.at : self.at + size])
        self.at += len(found)
        return found


class _Buffered(ABC):
    """Unpacks as it is read."""

    def __init__(self, contents: Contents) -> None:
        self._contents, self._ready, self._at = contents, b"", 0

    @abstractmethod
    def _next(self) -> bytes | None:
        """What comes next, which may be nothing yet; None: it has ended."""

    def take(self, size: int) -> bytes:
        while len(self._ready) - self._at < size and self._more():
            pass
        found = self._ready[self._at : self._at + size]
        self._at += len(found)
        return found

    def has_more(self) -> bool:
        while self._at == len(self._ready):
            if not self._more():
                return False
        return True

    def skip_zeros(self) -> None:
        """Archives are padded here, too."""
        while self.has_more():
            self._ready, self._at = self._ready[self._at :].lstrip(b"\0"), 0
            if self._ready:
                return

    def _more(self) -> bool:
        new = self._next()
        if new is None:
            return False
        self._ready, self._at = self._ready[self._at :] + new, 0
        self._contents.decompressed += len(new)
        if self._contents.decompressed > LIMIT:
            raise Unfit(f"unpacks to more than {LIMIT >> 30} GiB")
        return True


class _ByProgram(_Buffered):
    def __init__(self, unpacking: Unpacking, contents: Contents) -> None:
        super().__init__(contents)
        self._unpacking = unpacking

    def _next(self) -> bytes | None:
        return self._unpacking.take(CHUNK) or None


class _Packed(_Buffered):
    def __init__(self, data: memoryview, unpacker: Decompressor, name: str, contents: Contents) -> None:
        super().__init__(contents)
        self._data, self._unpacker, self._name, self._fed = data, unpacker, name, 0

    @property
    def end(self) -> int:
        """Where the compressed part ends. Requires: all is taken."""
        return self._fed - len(self._unpacker.unused_data)

    def _next(self) -> bytes | None:
        if self._unpacker.eof:
            return None
        try:
            new = self._unpacker.decompress(self._feed() if self._unpacker.needs_input else b"", CHUNK)
        except (zlib.error, lzma.LZMAError, OSError, EOFError, MemoryError) as error:
            raise Unfit(f"is damaged: its {self._name} data cannot be unpacked ({error})") from error
        if not new and not self._unpacker.eof and self._unpacker.needs_input and self._fed == len(self._data):
            raise Unfit(f"is cut short: its {self._name} data does not end")
        return new

    def _feed(self) -> bytes:
        chunk = bytes(self._data[self._fed : self._fed + CHUNK])
        self._fed += len(chunk)
        return chunk


def _read_archives(stream: _Buffered, contents: Contents) -> None:
    """Every archive of one compressed part, which begins with one if it holds anything."""
    while stream.has_more():
        contents.begin()
        _read_archive(stream, contents)
        stream.skip_zeros()


def _read_archive(stream: _Stream, contents: Contents) -> int:
    """Up to its trailer; how many bytes that was."""
    read = 0
    for entry, head, size in _entries(stream):
        read += size
        if entry.name == TRAILER:
            break
        contents.add(entry, head)
    return read


def _entries(stream: _Stream) -> Iterator[tuple[Entry, bytes, int]]:
    """Each with its first bytes and how long it is in the archive, padding included."""
    while header := stream.take(HEADER_BYTES):
        if len(header) < HEADER_BYTES or header[:6] not in NEWC:
            raise Unfit(_what(header) if header[:6] not in NEWC else "is cut short: its cpio archive does not end")
        if not FIELDS.fullmatch(header, 6):
            raise Unfit("is damaged: a header of its cpio archive has no numbers")
        fields = [int(header[at : at + 8], 16) for at in range(6, HEADER_BYTES, 8)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        if name_size > NAME_BYTES:
            raise Unfit(f"is damaged: a name in its cpio archive has {name_size:,} bytes, {NAME_BYTES:,} are the most")
        name = stream.take(_padded(HEADER_BYTES + name_size) - HEADER_BYTES)[: max(0, name_size - 1)]
        head = _skip(stream, size)
        yield Entry(name.decode("utf-8", "replace"), mode, size), head, _padded(HEADER_BYTES + name_size) + _padded(size)


def _skip(stream: _Stream, size: int) -> bytes:
    """Past a file's contents and their padding; how they begin."""
    head = stream.take(min(size, HEAD_BYTES))
    left = _padded(size) - len(head)
    while left:
        taken = len(stream.take(min(left, CHUNK)))
        if not taken:
            if left > _padded(size) - size:
                raise Unfit("is cut short: its cpio archive does not end")
            break
        left -= taken
    return head


def _padded(size: int) -> int:
    return -(-size // 4) * 4
