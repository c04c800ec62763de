# SPDX-License-Identifier: Apache-2.0
"""Entries as an initramfs that a kernel starts from: completed, then written as cpio and compressed, once for each content."""

from __future__ import annotations

import gzip
import hashlib
import os
import stat
from collections import Counter

from bhtool import paths
from bhtool.config.rootfs.cpio import Archive
from bhtool.config.rootfs.entries import Entry, Unpackable

INIT, CONSOLE = "init", "dev/console"
INITS = ("sbin/init", "usr/sbin/init", "lib/systemd/systemd", "usr/lib/systemd/systemd", "bin/init")
LINK, FOLDER, CHARACTERS = stat.S_IFLNK | 0o777, stat.S_IFDIR | 0o755, stat.S_IFCHR | 0o600


def complete(entries: list[Entry], starts_elsewhere: bool) -> list[Entry]:
    """
    With what a kernel needs to start its first process: /dev/console to talk to, folders for it to mount, and /init.
    starts_elsewhere: `rdinit=` names the program. Raises Unpackable when there is none to start.
    """
    names = {one.name for one in entries}
    added = [Entry(name, FOLDER) for name in ("dev", "proc", "sys") if name not in names]
    if CONSOLE not in names:
        added.append(Entry(CONSOLE, CHARACTERS, device=(5, 1)))
    if INIT not in names and not starts_elsewhere:
        program = next((name for name in INITS if name in names), _through_links(entries))
        if not program:
            raise Unpackable('has no `init`, which Linux starts first; add it (executable), or name another by bootargs = "rdinit=/PATH"')
        added.append(Entry(INIT, LINK, os.fsencode(f"/{program}")))
    return sorted([*entries, *added], key=lambda one: one.name)


def _through_links(entries: list[Entry]) -> str:
    """Where /sbin is a link to /usr/sbin, the init of the latter, or a busybox'."""
    links = {one.name: os.fsdecode(one.data).strip("/") for one in entries if stat.S_ISLNK(one.mode)}
    names = {one.name for one in entries}
    return "sbin/init" if f"{links.get('sbin', '')}/init" in names else ""


def archive_of(entries: list[Entry]) -> Archive:
    """Hard links stand once with their content, at the last of their names, as cpio has them."""
    left = Counter(one.file for one in entries if one.file is not None)
    numbers: dict[object, int] = {}
    archive, counts = Archive(), dict(left)
    for one in entries:
        if one.file is None or counts[one.file] == 1:
            archive.add(one.name, one.mode, one.data, one.device)
            continue
        left[one.file] -= 1
        number = numbers.setdefault(one.file, len(archive.entries) + 1)
        data = b"" if left[one.file] else one.data
        archive.add(one.name, one.mode, data, number=number, links=counts[one.file])
    return archive


def compressed(archive: Archive) -> bytes:
    """Compressing takes longer than all the rest, so it is done once for each content."""
    plain = archive.plain()
    file = paths.BUILD / "initramfs" / f"{hashlib.sha256(plain).hexdigest()}.cpio.gz"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_bytes(gzip.compress(plain, compresslevel=6, mtime=0))
        part.replace(file)
    return file.read_bytes()
