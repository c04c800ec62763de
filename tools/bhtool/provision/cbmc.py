# SPDX-License-Identifier: Apache-2.0
"""CBMC, a model checker for C, as Debian 13 packages it: the installed one, else unpacked in the cache with the libraries it needs, for this project alone."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.locks import exclusive
from bhtool.provision.apt import PrivateApt
from bhtool.provision.progress import Report
from bhtool.provision.sources import machine_sources, main_entry, release

SUITE = "trixie"
PACKAGES = ("cbmc", "minisat", "libc6", "libstdc++6", "libgcc-s1", "zlib1g")  # 30 MB to download
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "usr/lib")
PROGRAMS = ("cbmc", "goto-cc", "goto-instrument")


def place() -> Path:
    return paths.cache() / f"cbmc-{SUITE}"


def command(program: str) -> list[str]:
    """How one of PROGRAMS is started. Requires: ensure_cbmc."""
    if shutil.which(program):
        return [program]
    folders = [str(place() / one) for one in LIBRARIES]
    return [f"{folders[0]}/ld-linux-x86-64.so.2", "--library-path", ":".join(folders), str(place() / "usr/bin" / program)]


def ensure_cbmc(report: Report) -> None:
    """Unpacks it unless it is there. Raises BulkheadError if this machine's APT sources do not reach it."""
    if all(map(shutil.which, PROGRAMS)) or place().is_dir():
        return
    entry = main_entry(machine_sources(), release()[1])
    if entry is None:
        raise BulkheadError("CBMC comes from Debian: this machine needs an APT source of Debian's own", Status.MISSING)
    apt = PrivateApt(paths.cache() / "apt-cbmc", (entry.with_suite(SUITE),))
    with apt.locked(), exclusive(paths.cache()), tempfile.TemporaryDirectory(dir=paths.cache()) as name:
        if place().is_dir():
            return
        apt.prepare()
        apt.update(report)
        tree = Path(name) / "tree"
        for package in PACKAGES:
            subprocess.run(["dpkg-deb", "-x", str(apt.download(package, Path(name), report)), str(tree)], check=True)
        tree.replace(place())
