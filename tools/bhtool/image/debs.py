# SPDX-License-Identifier: Apache-2.0
"""Debian packages as files: which ones a root file system needs, fetched and verified by APT, and what is in them."""

import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from bhtool.errors import BulkheadError, Status
from bhtool.provision.apt import PrivateApt, bytes_of
from bhtool.provision.progress import Report, Steps, megabytes

# Besides what Debian calls essential: what the first boot, the network and further packages need.
BASE = ("apt", "busybox-static", "debian-archive-keyring", "e2fsprogs", "mawk", "mount", "passwd", "usr-is-merged")
INSTALL = ("install", "-qq", "--yes", "--no-install-recommends")


@dataclass(frozen=True)
class Deb:
    file: Path
    control: dict[str, bytes]  # files of its control archive, by name

    @property
    def fields(self) -> dict[str, str]:
        """deb-control(5), with the lines of a field that has several."""
        found: dict[str, str] = {}
        name = ""
        for line in self.control["control"].decode().splitlines():
            if line[:1] in (" ", "\t"):
                found[name] += f"\n{line}"
            elif ":" in line:
                name, _, value = line.partition(":")
                found[name] = value.strip()
        return found

    @property
    def name(self) -> str:
        return self.fields["Package"]

    @property
    def conffiles(self) -> list[str]:
        return [line for line in self.control.get("conffiles", b"").decode().splitlines() if line.startswith("/")]


def read(file: Path) -> Deb:
    with tarfile.open(fileobj=BytesIO(_archive(file, "--ctrl-tarfile"))) as tar:
        return Deb(file, {item.name.removeprefix("./"): _content(tar, item) for item in tar if item.isfile()})


def contents(deb: Deb) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """What it installs; the bytes are those of a file."""
    with tarfile.open(fileobj=BytesIO(_archive(deb.file, "--fsys-tarfile"))) as tar:
        for item in tar:
            yield item, _content(tar, item) if item.isfile() else b""


def _archive(file: Path, which: str) -> bytes:
    found = subprocess.run(["dpkg-deb", which, str(file)], capture_output=True, check=False)
    if found.returncode:
        raise BulkheadError(f"{file.name} cannot be unpacked: {found.stderr.decode('utf-8', 'replace').strip().splitlines()[-1]}")
    return found.stdout


def _content(tar: tarfile.TarFile, item: tarfile.TarInfo) -> bytes:
    content = tar.extractfile(item)
    assert content is not None
    return content.read()


def fetch(apt: PrivateApt, architecture: str, further: tuple[str, ...], report: Report) -> tuple[list[Path], list[Path]]:
    """
    The packages of a smallest Debian, and what the further ones need besides. Requires: the lock of `apt`, which is prepared.
    Raises BulkheadError if there is no network, no such package or no room.
    """
    apt.update(report)
    essential = f"?and(?architecture({architecture}),?essential)"
    base = _closure(apt, architecture, (essential, *BASE))
    for name in further:
        if not apt.has(name, architecture):
            raise BulkheadError(f"Debian has no package {name} for {architecture}; `apt-cache search {name}` shows names", Status.USAGE)
    every = _closure(apt, architecture, (essential, *BASE, *further)) if further else base
    size = sum(every.values())
    report(f"fetching {len(every)} packages for {architecture}: {megabytes(size)} MB")
    steps = Steps(f"downloading packages for {architecture}", report, size)
    apt.run("apt-get", *_for(architecture), *INSTALL, "--download-only", essential, *BASE, *further, steps=steps)
    archives = apt.directory / "cache" / "archives"
    return [archives / name for name in sorted(base)], [archives / name for name in sorted(every) if name not in base]


def fetch_closure(apt: PrivateApt, architecture: str, packages: tuple[str, ...], report: Report) -> list[Path]:
    """Packages and all that they need. Requires and raises what `fetch` does."""
    apt.update(report)
    every = _closure(apt, architecture, packages)
    size = sum(every.values())
    report(f"fetching {len(every)} packages for {architecture}: {megabytes(size)} MB")
    steps = Steps(f"downloading packages for {architecture}", report, size)
    apt.run("apt-get", *_for(architecture), *INSTALL, "--download-only", *packages, steps=steps)
    return [apt.directory / "cache" / "archives" / name for name in sorted(every)]


def _for(architecture: str) -> list[str]:
    return ["-o", f"APT::Architecture={architecture}"]


def _closure(apt: PrivateApt, architecture: str, packages: tuple[str, ...]) -> dict[str, int]:
    """Sizes by the names of the files that APT gives them, of what is needed where nothing is installed: an empty cache makes APT list them all."""
    empty = apt.directory / "none" / "archives" / "partial"
    empty.mkdir(parents=True, exist_ok=True)
    out = apt.run("apt-get", *_for(architecture), "-o", f"Dir::Cache::archives={empty.parent}", *INSTALL, "--print-uris", *packages)
    rows = [line.split() for line in out.splitlines() if line.startswith("'")]
    return {row[1]: bytes_of(f"{row[2]} B") for row in rows}
