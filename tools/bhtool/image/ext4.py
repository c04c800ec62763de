# SPDX-License-Identifier: Apache-2.0
"""An ext4 file system in a file, made by Debian's e2fsprogs without root's rights: mke2fs makes it, debugfs puts entries into it.

The same entries give the same bytes: identifier and time are given, and entries go in by their names.
"""

import errno
import os
import shutil
import stat
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, NoReturn

from bhtool.errors import BulkheadError, Status
from bhtool.provision.progress import Report, Steps

BLOCK, LABEL = 4096, "bulkhead-root"
# mke2fs(8). What Debian 12's own kernel knows, and no more; named here, because /etc/mke2fs.conf differs between hosts.
FEATURES = "none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,sparse_super,large_file,huge_file,dir_nlink,extra_isize,metadata_csum"
FULL = "Could not allocate"  # a block or an inode: libext2fs, ext2_err.et


@dataclass(frozen=True)
class Entry:
    """A file, a directory or a symbolic link."""

    path: str  # without a slash at its start
    kind: Literal["file", "directory", "link"]
    mode: int = 0o755  # permission bits
    owner: int = 0
    group: int = 0
    time: int = 0  # of its last change, in seconds since 1970
    content: Path | None = None  # of a file
    target: str = ""  # of a link


def program(name: str) -> str:
    """In /usr/sbin, which is in the search path of root alone."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if not found:
        raise BulkheadError(f"{name} is missing: run `tools/bulkhead setup` to install e2fsprogs", Status.MISSING)
    return found


def write(file: Path, offset: int, size: int, entries: list[Entry], identifier: uuid.UUID, report: Report) -> None:
    """Makes the file system at `offset` of the file, which holds it, and fills it. Requires: every folder above an entry is an entry."""
    blocks = size // BLOCK
    options = f"offset={offset},hash_seed={identifier},root_owner=0:0,lazy_itable_init=0,lazy_journal_init=1,nodiscard"
    form = f"-q -F -t ext4 -O {FEATURES} -b {BLOCK} -I 256 -i 16384 -m 1 -U {identifier} -L {LABEL}".split()
    time = max((one.time for one in entries), default=0)
    environment = {
        **os.environ,
        "E2FSPROGS_FAKE_TIME": str(time or 1),
        "MKE2FS_CONFIG": "/dev/null",
        "LC_ALL": "C",
        "PAGER": "cat",
        "DEBUGFS_PAGER": "cat",
    }
    made = subprocess.run(
        [program("mke2fs"), *form, "-E", options, str(file), str(blocks)], env=environment, capture_output=True, text=True, check=False
    )
    if made.returncode:
        _refuse(made.stderr, size)
    steps = Steps("filling the file system", report, sum(one.content.stat().st_size for one in entries if one.content))
    ordered = sorted(entries, key=lambda one: one.path)
    words = [program("debugfs"), "-w", "-f", "-", f"{file}?offset={offset}"]
    with tempfile.TemporaryFile("w+", errors="replace") as complaints:
        with subprocess.Popen(
            words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=complaints, text=True
        ) as process, suppress(BrokenPipeError):  # fmt: skip
            assert process.stdin is not None
            for number, entry in enumerate(ordered, 1):
                process.stdin.write("".join(f"{line}\n" for line in commands(entry)))
                steps(number / len(ordered))
            process.stdin.close()
        complaints.seek(0)
        said = complaints.read()
    if process.returncode or told(said):  # debugfs(8) goes on after an error, and ends with 0
        _refuse(said, size)


def told(said: str) -> list[str]:
    """Complaints, without the line in which a program names itself."""
    return [line.strip() for line in said.splitlines() if line.strip() and not line.startswith(("debugfs ", "mke2fs "))]


def _refuse(said: str, size: int) -> NoReturn:
    lines = told(said) or ["no reason given"]
    if any(os.strerror(errno.ENOSPC) in line for line in lines):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if any(FULL in line for line in lines):
        raise BulkheadError(f"the root file system needs more than {size >> 20} MiB: give the disc a greater --size")
    raise BulkheadError(f"the file system cannot be made: {lines[0]}")


def commands(entry: Entry) -> Iterator[str]:
    """debugfs(8): `write` and `symlink` name what they make in the folder that `cd` was to."""
    path = PurePosixPath("/", entry.path)
    name, whole = _quoted(path.name), _quoted(str(path))
    yield f"cd {_quoted(str(path.parent))}"
    mode = 0
    if entry.kind == "directory":
        yield f"mkdir {name}"
        mode = stat.S_IFDIR | entry.mode
    elif entry.kind == "link":
        yield f"symlink {name} {_quoted(entry.target)}"
    else:
        yield f"write {_quoted(str(entry.content))} {name}"
        mode = stat.S_IFREG | entry.mode
    if mode:
        yield f"sif {whole} mode 0{mode:o}"
    if entry.owner:
        yield f"sif {whole} uid {entry.owner}"
    if entry.group:
        yield f"sif {whole} gid {entry.group}"
    yield f"sif {whole} mtime @{entry.time:#x}"


def _quoted(text: str) -> str:
    if "\n" in text:
        raise BulkheadError(f"a name with a line break cannot be put into the file system: {text!r}")
    return '"' + text.replace('"', '""') + '"'
