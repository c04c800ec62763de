# SPDX-License-Identifier: Apache-2.0
"""A private APT: the machine's keys and mirrors, but our own suites, lists and cache. Changes nothing under /etc or /var.

It runs without privileges; only installing (`install`) calls sudo. Signatures are verified by APT itself.
"""

import os
import re
import subprocess
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bhtool.errors import BulkheadError, Status
from bhtool.locks import exclusive
from bhtool.provision.sources import Source

CONFIGURATION = """\
Dir::State "{directory}/state";
Dir::State::status "{status}";
Dir::Cache "{directory}/cache";
Dir::Etc::sourcelist "{directory}/bulkhead.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "{directory}/preferences";
Dir::Etc::preferencesparts "/dev/null";
{architectures}
APT::Sandbox::User "root";
APT::Get::Show-Versions "false";
Acquire::Languages "none";
Acquire::Retries "3";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""
PIN = "Package: {packages}\nPin: release n={suite}\nPin-Priority: 990\n"


@dataclass(frozen=True)
class Estimate:
    packages: tuple[str, ...]  # everything new, with dependencies
    download: str  # as APT writes it: "321 MB"
    disk: str


@dataclass(frozen=True)
class PrivateApt:
    directory: Path
    sources: tuple[Source, ...]
    architectures: tuple[str, ...] = ()  # empty: the machine's own
    status: Path | None = None  # what counts as installed; None: nothing
    pins: tuple[tuple[str, str], ...] = ()  # (packages, suite) to prefer

    @property
    def configuration(self) -> Path:
        return self.directory / "apt.conf"

    def prepare(self) -> None:
        """Writes the configuration; keeps lists and packages that are there."""
        for part in ("state/lists/partial", "cache/archives/partial"):
            (self.directory / part).mkdir(parents=True, exist_ok=True)
        status = self.status or self.directory / "nothing-installed"
        if self.status is None:
            status.touch()
        names = "".join(f' "{name}";' for name in self.architectures)
        architectures = f"APT::Architectures {{{names} }};" if names else ""
        text = CONFIGURATION.format(directory=self.directory, status=status, architectures=architectures)
        self.configuration.write_text(text, encoding="utf-8")
        sources = "\n".join(source.deb822() for source in self.sources)
        (self.directory / "bulkhead.sources").write_text(sources, encoding="utf-8")
        pins = "\n".join(PIN.format(packages=packages, suite=suite) for packages, suite in self.pins)
        (self.directory / "preferences").write_text(pins, encoding="utf-8")

    def locked(self) -> AbstractContextManager[None]:
        """Keeps two commands of this tool apart; APT's own locks would need root for the dpkg one."""
        return exclusive(self.directory)

    def run(self, program: str, *arguments: str, cwd: Path | None = None, may_fail: bool = False) -> str:
        command = [program, "-c", str(self.configuration), "-o", "Debug::NoLocking=true", *arguments]
        done = subprocess.run(command, cwd=cwd, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, check=False)
        if done.returncode and not may_fail:
            lines = [line for line in done.stderr.splitlines() if line.startswith("E:")] or ["E: no reason given"]
            raise BulkheadError(f"{program} {arguments[0]} failed: {lines[0][2:].strip()}", Status.MISSING)
        return done.stdout

    def update(self) -> None:
        self.run("apt-get", "update", "-qq", "-o", "APT::Update::Error-Mode=any")

    def estimate(self, packages: list[str]) -> Estimate:
        """What installing would bring: names and sizes."""
        out = self.run("apt-get", "install", "--assume-no", "--no-install-recommends", *packages, may_fail=True)
        listed = re.search(r"NEW packages will be installed:\n((?: +.*\n)+)", out)
        upgraded = re.search(r"packages will be upgraded:\n((?: +.*\n)+)", out)
        names = ((listed[1] if listed else "") + (upgraded[1] if upgraded else "")).split()
        if not names:
            self.run("apt-get", "install", "--simulate", "--no-install-recommends", *packages)
        download = re.search(r"Need to get ([\d.,]+ ?\w+)", out)
        disk = re.search(r"After this operation, ([\d.,]+ ?\w+)", out)
        return Estimate(tuple(names), download[1] if download else "0 B", disk[1] if disk else "0 B")

    def install(self, packages: list[str]) -> None:
        """Downloads as the user, then installs as root, through sudo unless this is root. Shows APT's own progress."""
        common = ["--yes", "--no-install-recommends", "install", *packages]
        fetch = ["apt-get", "-c", str(self.configuration), "-o", "Debug::NoLocking=true", "--download-only", *common]
        configure = ["-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=", "-o", "Dpkg::Use-Pty=0"]
        settle = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-c", str(self.configuration), *configure, *common]
        for command in (fetch, settle if os.geteuid() == 0 else ["sudo", *settle]):
            if subprocess.run(command, check=False).returncode:
                raise BulkheadError(f"`{' '.join(command)}` failed; its messages stand above", Status.MISSING)

    def depends(self, package: str, pattern: str) -> str:
        """The first direct dependency whose name matches; how a metapackage names the real one."""
        text = self.run("apt-cache", "show", "--no-all-versions", package)
        match = re.search(rf"^Depends:.*?\b({pattern})", text, re.MULTILINE)
        if not match:
            raise BulkheadError(f"Debian's package {package} names no {pattern}", Status.MISSING)
        return match[1]

    def download(self, package: str, directory: Path) -> Path:
        """Fetches one package file, verified, into `directory`."""
        before = set(directory.glob("*.deb"))
        self.run("apt-get", "download", "-qq", package, cwd=directory)
        fresh = sorted(set(directory.glob("*.deb")) - before)
        if len(fresh) != 1:
            raise BulkheadError(f"downloading {package} brought {len(fresh)} files instead of one", Status.MISSING)
        return fresh[0]
