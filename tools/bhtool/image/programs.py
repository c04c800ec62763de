# SPDX-License-Identifier: Apache-2.0
"""Programs of Debian packages and the shared libraries they need, as files of an initramfs: nothing is installed, and no script of a package runs."""

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any, cast

from elftools.common.exceptions import ELFError
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.segments import InterpSegment

from bhtool.errors import BulkheadError, Status
from bhtool.image import debs
from bhtool.provision.apt import PrivateApt
from bhtool.provision.progress import Report

LIBRARIES = "lib"  # where the loader looks last, whatever the architecture: ld.so(8)


def packed(apt: PrivateApt, architecture: str, packages: tuple[str, ...], programs: Iterable[str], report: Report) -> bytes:
    """A tar of bin/PROGRAM, their loader and lib/LIBRARY. Requires: the lock of `apt`, which is prepared. Raises BulkheadError."""
    return packed_from(debs.fetch_closure(apt, architecture, packages, report), programs)


def packed_from(packages: list[Path], programs: Iterable[str]) -> bytes:
    """The same from packages that are there, with all that they need."""
    files = _files(packages)
    tree: dict[str, bytes] = {}
    for name in programs:
        _add(tree, files, f"bin/{name}", name)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for path, content in sorted(tree.items()):
            item = tarfile.TarInfo(path)
            item.size = len(content)
            tar.addfile(item, io.BytesIO(content))
    return data.getvalue()


def unpacked(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {item.name: content.read() for item in tar if (content := tar.extractfile(item))}


def _files(packages: list[Path]) -> dict[str, bytes]:
    """By the last part of their path; links stand for what they lead to."""
    found: dict[str, bytes] = {}
    links: dict[str, str] = {}
    for package in packages:
        for item, content in debs.contents(debs.read(package)):
            path = PurePosixPath(item.name)
            if item.isfile() and content[:4] == b"\x7fELF":
                found.setdefault(path.name, content)
            elif item.issym():
                links.setdefault(path.name, PurePosixPath(item.linkname).name)
    return found | {name: found[target] for name, target in links.items() if target in found and name not in found}


def _add(tree: dict[str, bytes], files: dict[str, bytes], path: str, name: str) -> None:
    """One file, and what it needs: each library once, so that circles end."""
    waiting = [(path, name)]
    while waiting:
        path, name = waiting.pop()
        if path in tree:
            continue
        if name not in files:
            raise BulkheadError(f"no package that was fetched holds {name}", Status.MISSING)
        tree[path] = files[name]
        waiting += [(one, PurePosixPath(one).name) for one in _needed(name, files[name])]


def _needed(name: str, content: bytes) -> list[str]:
    """The paths of a program's loader and libraries."""
    try:
        elf = ELFFile(io.BytesIO(content))
        loaders = [one.get_interp_name().lstrip("/") for one in elf.iter_segments() if isinstance(one, InterpSegment)]
        dynamic = elf.get_section_by_name(".dynamic")
        tags = dynamic.iter_tags("DT_NEEDED") if isinstance(dynamic, DynamicSection) else ()
        libraries = [f"{LIBRARIES}/{cast(Any, tag).needed}" for tag in tags]
    except ELFError as error:
        raise BulkheadError(f"{name} is no program: {error}") from error
    return loaders + [one for one in libraries if not PurePosixPath(one).name.startswith("ld-linux")]
