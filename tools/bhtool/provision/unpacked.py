# SPDX-License-Identifier: Apache-2.0
"""Programs of another Debian suite: the installed ones, else unpacked in the cache with the libraries they need, for this project alone."""

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.locks import exclusive
from bhtool.provision.apt import PrivateApt
from bhtool.provision.progress import Report
from bhtool.provision.sources import machine_sources, main_entry, release

LIBRARIES = ("usr/lib/x86_64-linux-gnu", "usr/lib")


@dataclass(frozen=True)
class Unpacked:
    name: str  # as it is written in sentences
    folder: str  # in the cache
    suite: str
    packages: tuple[str, ...]
    programs: tuple[str, ...]

    def place(self) -> Path:
        return paths.cache() / f"{self.folder}-{self.suite}"

    def command(self, program: str) -> list[str]:
        """How one of `programs` is started. Requires: ensure."""
        if shutil.which(program):
            return [program]
        folders = [str(self.place() / one) for one in LIBRARIES]
        return [f"{folders[0]}/ld-linux-x86-64.so.2", "--library-path", ":".join(folders), str(self.place() / "usr/bin" / program)]

    def ensure(self, report: Report) -> None:
        """Unpacks it unless it is there. Raises BulkheadError if this machine's APT sources do not reach it."""
        if all(map(shutil.which, self.programs)) or self.place().is_dir():
            return
        entry = main_entry(machine_sources(), release()[1])
        if entry is None:
            raise BulkheadError(f"{self.name} comes from Debian: this machine needs an APT source of Debian's own", Status.MISSING)
        apt = PrivateApt(paths.cache() / f"apt-{self.folder}", (entry.with_suite(self.suite),))
        with apt.locked(), exclusive(paths.cache()), tempfile.TemporaryDirectory(dir=paths.cache()) as name:
            if self.place().is_dir():
                return
            apt.prepare()
            apt.update(report)
            tree = Path(name) / "tree"
            for package in self.packages:
                subprocess.run(["dpkg-deb", "-x", str(apt.download(package, Path(name), report)), str(tree)], check=True)
            tree.replace(self.place())
