# SPDX-License-Identifier: Apache-2.0
"""A disc with Debian's root file system in its first partition, made once for each set of packages and kept in the cache."""

import errno
import hashlib
import os
import shutil
import struct
import tempfile
import uuid
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.image import debian_root, debs, ext4
from bhtool.image.payloads import ARCHITECTURES, SUITE, debian_apt
from bhtool.locks import exclusive
from bhtool.provision.progress import Report
from bhtool.text import MIB, all_of, size_text

SECTOR = 512
START = MIB  # of the partition: where every partitioning program puts the first one
LEAST, DEFAULT = 512 * MIB, 1024 * MIB
MOST = 2048 * 1024 * MIB  # what 32-bit numbers of sectors can say
LINUX = 0x83  # the type of a partition with a file system of Linux
NAMESPACE = uuid.UUID("9c2f6a0e-4d1b-5e37-8a90-6b756c6b6864")


def debian(architecture: str, further: tuple[str, ...], size: int, report: Report) -> Path:
    """The cached disc, whole or not at all. Nobody may change it: copies are for that."""
    if architecture not in ARCHITECTURES:
        raise BulkheadError(f"there is no disc for {architecture}; {all_of(ARCHITECTURES, quote='')}", Status.USAGE)
    key = key_of(architecture, further, size)
    path = paths.cache() / "discs" / architecture / f"{key}.img"
    with exclusive(path.parent):
        if not path.exists():
            try:
                make(path, architecture, further, size, report)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise BulkheadError(f"the disk is full: a disc of Debian takes 300 MiB in {path.parent} while it is made") from error
                raise
    return path


def key_of(architecture: str, further: tuple[str, ...], size: int) -> str:
    """Of everything that this tool puts into a disc; a newer Debian is fetched when the cache is emptied, as with kernels."""
    told = hashlib.sha256(repr((architecture, sorted(set(further)), size, SUITE)).encode())
    for file in sorted((*debian_root.SCRIPTS.glob("disc*"), *(Path(module.__file__ or "") for module in (debian_root, debs, ext4)))):
        told.update(file.read_bytes())
    return told.hexdigest()[:16]


def make(path: Path, architecture: str, further: tuple[str, ...], size: int, report: Report) -> None:
    apt = debian_apt()
    with apt.locked():
        apt.prepare()
        base, more = debs.fetch(apt, architecture, further, report)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            root = debian_root.build(Path(folder), base, more, SUITE, report)
            part = path.with_suffix(".part")
            identifier = uuid.uuid5(NAMESPACE, " ".join(one.name for one in (*base, *more)))
            try:
                write(part, size, root.listed(), identifier, report)
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)


def write(file: Path, size: int, entries: list[ext4.Entry], identifier: uuid.UUID, report: Report) -> None:
    with file.open("wb") as disc:
        disc.truncate(size)
        disc.write(partition_table(size, identifier))
    ext4.write(file, START, size - START, entries, identifier, report)


def partition_table(size: int, identifier: uuid.UUID) -> bytes:
    """A master boot record without code. Its addresses by cylinder are what is written where they cannot be said."""
    outside = b"\xfe\xff\xff"
    row = struct.pack("<B3sB3sII", 0, outside, LINUX, outside, START // SECTOR, (size - START) // SECTOR)
    return bytes(440) + identifier.bytes[:4] + bytes(2) + row + bytes(48) + b"\x55\xaa"


def held(file: Path) -> int:
    """Bytes that it takes, without its holes."""
    return file.stat().st_blocks * SECTOR


def copy(disc: Path, output: Path) -> None:
    """With its holes. Raises BulkheadError where there is no room; the output is whole or not there."""
    part = output.with_name(f".{output.name}.part")
    try:
        _copy(disc, part)
        part.replace(output)
    except OSError as error:
        part.unlink(missing_ok=True)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            free = shutil.disk_usage(output.parent).free
            raise BulkheadError(
                f"the disk is full: {output} takes {size_text(held(disc))}, and {output.parent} has {size_text(free)} free"
            ) from error
        raise


def _copy(disc: Path, part: Path) -> None:
    with disc.open("rb") as source, part.open("wb") as target:
        size, at = os.fstat(source.fileno()).st_size, 0
        target.truncate(size)
        while at < size:
            try:
                at = os.lseek(source.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # a hole up to the end
                    return
                raise
            end = os.lseek(source.fileno(), at, os.SEEK_HOLE)
            os.lseek(target.fileno(), at, os.SEEK_SET)
            while at < end:
                sent = os.sendfile(target.fileno(), source.fileno(), at, end - at)
                at += sent
