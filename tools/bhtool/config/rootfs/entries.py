# SPDX-License-Identifier: Apache-2.0
"""A directory or a tar as entries of an initramfs: owners 0, no time stamps, sorted, so that the same tree gives the same bytes.

What an initramfs cannot hold, or what would be read otherwise than it is meant, is refused by name.
"""

from __future__ import annotations

import io
import lzma
import os
import stat
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Self

from bhtool.config.bounded import IMAGE_BYTES, MIB, Unbounded, read_bounded
from bhtool.config.rootfs.listing import opened

TAR_BLOCK, TAR_MAGIC_AT = 512, 257
MOST_ENTRIES = 100_000
PATH_BYTES = 4095  # Linux: PATH_MAX without its NUL


class Unpackable(Unbounded):
    """The end of a sentence that begins with the name of the directory or archive."""


@dataclass(frozen=True)
class Entry:
    name: str  # without a slash at its start
    mode: int
    data: bytes = field(default=b"", repr=False)
    device: tuple[int, int] = (0, 0)
    file: object = None  # hard links have the same


def read_tree(path: Path) -> list[Entry] | None:
    """What lies in a directory or a tar; None: it is neither. Raises Unpackable, and OSError."""
    if path.is_dir():
        return _bounded(_of_directory(path))
    if path.is_file() and is_tar(path):
        return _bounded(_of_tar(path))
    return None


def is_tar(path: Path) -> bool:
    """By the magic number of its first header, POSIX "ustar Interchange Format": zeros, as a file system's image begins with, are an empty tar to tarfile."""
    with path.open("rb") as file:
        try:
            return opened(file).read(TAR_BLOCK)[TAR_MAGIC_AT:].startswith(b"ustar")
        except (OSError, EOFError, lzma.LZMAError, zlib.error, MemoryError):
            return False


def _bounded(entries: Iterator[Entry]) -> list[Entry]:
    found: dict[str, Entry] = {}
    size, seen = 0, set()
    for one in entries:
        found[one.name] = one  # of a name that a tar has twice, the last
        size += 0 if one.file in seen else len(one.data)
        seen |= {one.file} - {None}
        if len(found) > MOST_ENTRIES:
            raise Unpackable(f"has more than {MOST_ENTRIES} files")
        if size > IMAGE_BYTES:
            raise Unpackable(f"has more than the {IMAGE_BYTES // MIB} MiB that can be packed")
    return [found[name] for name in sorted(found)]


def _decent(name: str) -> str:
    """A name as the kernel and this tool's messages can have it."""
    if not name.isprintable() or len(os.fsencode(name)) > PATH_BYTES or any(0xDC80 <= ord(one) <= 0xDCFF for one in name):
        raise Unpackable(f"holds {ascii(name)[:100]}, whose name is no printable text of at most {PATH_BYTES} bytes")
    return name


def _of_directory(root: Path) -> Iterator[Entry]:
    for folder, folders, files in os.walk(root, onerror=_unreadable):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = Path(folder) / name
            yield _of_file(path, _decent(str(path.relative_to(root))))


def _unreadable(error: OSError) -> None:
    raise Unpackable(f"holds {str(error.filename)!a}, which cannot be read ({error.strerror})") from error


def _of_file(path: Path, name: str) -> Entry:
    try:
        status = path.lstat()
        return _entry(path, name, status)
    except OSError as error:
        raise Unpackable(f"holds `{name}`, which cannot be read ({error.strerror})") from error


def _entry(path: Path, name: str, status: os.stat_result) -> Entry:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return Entry(name, mode, os.fsencode(path.readlink()))
    if stat.S_ISREG(mode):
        shared = (status.st_dev, status.st_ino) if status.st_nlink > 1 else None
        return Entry(name, mode, read_bounded(path, IMAGE_BYTES), file=shared)
    if stat.S_ISDIR(mode) or stat.S_ISFIFO(mode):
        return Entry(name, mode)
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return Entry(name, mode, device=(os.major(status.st_rdev), os.minor(status.st_rdev)))
    raise Unpackable(f"holds the socket `{name}`, which lives only as long as its program; remove it")


KINDS = {
    tarfile.DIRTYPE: stat.S_IFDIR,
    tarfile.SYMTYPE: stat.S_IFLNK,
    tarfile.CHRTYPE: stat.S_IFCHR,
    tarfile.BLKTYPE: stat.S_IFBLK,
    tarfile.FIFOTYPE: stat.S_IFIFO,
}


# RecursionError: tarfile reads an extension of a header inside of the one before.
DAMAGES = (tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error, MemoryError, RecursionError)
EXTENSIONS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
EXTENSION_BYTES = MIB  # tarfile reads one whole


SPARSE = "holds a file with holes, of whose maps there may be any number: pack it without --sparse"


class Header(tarfile.TarInfo):
    """
    Only zeros end an archive: to tarfile a header it cannot make sense of, or none, is an end like that. And no header makes tarfile read or
    keep more than is known to be little.
    """

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """Called by tarfile, of every Python from 3.11 on, for each header before it reads what belongs to it."""
        if self.size < 0 or (self.type in EXTENSIONS and self.size > EXTENSION_BYTES):
            raise Unpackable(f"is a damaged tar (a header that says it has {self.size:,} bytes)")
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise Unpackable(SPARSE)
        found: tarfile.TarInfo = super()._proc_member(archive)  # type: ignore[misc]
        return found

    def _apply_pax_info(self, *told: object) -> None:
        """Called by tarfile with the attributes of an extended header, whose size wins, before it goes on after the contents."""
        super()._apply_pax_info(*told)  # type: ignore[misc]
        if self.size < 0:
            raise Unpackable(f"is a damaged tar (a header that says it has {self.size:,} bytes)")

    def _refuse_holes(self, *_: object) -> None:
        """Called by tarfile for maps of holes in or after an extended header: POSIX forms 0.0, 0.1 and 1.0 of GNU tar."""
        raise Unpackable(SPARSE)

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse_holes

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> Self:
        at = tarfile_.offset
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"no header and no end at byte {at:,}: {error}") from error


def _of_tar(path: Path) -> Iterator[Entry]:
    regular: dict[str, Entry] = {}
    try:
        with path.open("rb") as file, opened(file) as stream, tarfile.open(fileobj=stream, mode="r:", tarinfo=Header) as tar:
            for item in _counted(tar):
                one = _of_item(tar, item, regular)
                if one and stat.S_ISREG(one.mode):
                    regular[one.name] = one
                if one:
                    yield one
            _read_to_end(stream)
    except DAMAGES as error:
        raise Unpackable(f"is a damaged tar ({error})") from error


def _counted(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Of what a tar has twice, or for the root itself, tarfile keeps all, too."""
    size = 0
    for number, item in enumerate(tar):
        size += item.size if item.isreg() else 0
        if number > 2 * MOST_ENTRIES:
            raise Unpackable(f"has more than {MOST_ENTRIES} files")
        if size > IMAGE_BYTES:
            raise Unpackable(f"has more than the {IMAGE_BYTES // MIB} MiB that can be packed")
        yield item


def _read_to_end(stream: IO[bytes] | io.BufferedIOBase) -> None:
    """Checksums of compressed data come after it, and are checked by whoever reads that far."""
    for _ in range(IMAGE_BYTES // MIB):
        if not stream.read(MIB):
            return
    raise Unpackable(f"goes on for more than {IMAGE_BYTES // MIB} MiB after the end of its archive")


def _of_item(tar: tarfile.TarFile, item: tarfile.TarInfo, regular: dict[str, Entry]) -> Entry | None:
    name = _inside(item.name)
    if name == ".":
        return None
    if item.islnk():
        target = regular.get(_inside(item.linkname))
        if target is None:
            raise Unpackable(f"holds `{name}`, a hard link to `{_decent(item.linkname)}`, which does not come before it")
        return Entry(name, target.mode, target.data, file=target.file)
    if item.isreg():
        content = tar.extractfile(item)
        assert content is not None
        return Entry(name, stat.S_IFREG | item.mode & 0o7777, content.read(), file=("tar", name))
    if item.type not in KINDS:
        raise Unpackable(f"holds `{name}`, of a kind that an initramfs does not have")
    device = (item.devmajor, item.devminor) if item.ischr() or item.isblk() else (0, 0)
    mode = 0o777 if item.issym() else item.mode & 0o7777
    return Entry(name, KINDS[item.type] | mode, os.fsencode(item.linkname) if item.issym() else b"", device)


def _inside(name: str) -> str:
    """A tar's name below the root; "." is the root itself."""
    parts = PurePosixPath(_decent(name)).parts
    if ".." in parts:
        raise Unpackable(f"holds `{name}`, which would lie outside of it")
    return str(PurePosixPath(*(part for part in parts if part != "/")))
