# SPDX-License-Identifier: Apache-2.0
"""A private APT: the machine's keys and mirrors, but our own suites, lists and cache. Changes nothing under /etc or /var.

It runs without privileges; only installing (`install`) calls sudo. Signatures are verified by APT itself.
"""

import os
import re
import subprocess
import tempfile
from collections import deque
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from bhtool.errors import BulkheadError, Status
from bhtool.locks import exclusive
from bhtool.provision.progress import Report, Steps, lines_of, megabytes, share_of_apt, silent
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


SHOWN_LINES = 15  # of a program that failed
UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}


def bytes_of(size: str) -> int:
    """Of a size as APT writes it, such as "321 MB"; 0 if it is none."""
    found = re.fullmatch(r"([\d.,]+) ?(\w+)", size)
    return int(float(found[1].replace(",", "")) * UNITS.get(found[2], 0)) if found else 0


def heard(command: list[str], cwd: Path | None, steps: Steps | None) -> tuple[int, str, str]:
    """(exit status, output, complaints) of a program of APT, whose APT::Status-Fd is read while it runs."""
    reading, writing = os.pipe()
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as complaints, lines_of(reading) as lines:
        try:
            words = [command[0], "-o", f"APT::Status-Fd={writing}", *command[1:]]
            environment = {**os.environ, "LC_ALL": "C"}
            process = subprocess.Popen(words, cwd=cwd, env=environment, stdout=output, stderr=complaints, pass_fds=(writing,))
        finally:
            os.close(writing)
        with process:
            for line in lines:
                if steps and (found := share_of_apt(line, "dlstatus")):
                    steps(found[0])
        for file in (output, complaints):
            file.seek(0)
        return process.returncode, output.read(), complaints.read()


def followed(command: list[str], steps: Steps) -> str | None:
    """Runs dpkg by APT, whose APT::Status-Fd is its output; the last lines if it failed."""
    last: deque[str] = deque(maxlen=SHOWN_LINES)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        assert process.stdout is not None
        for line in process.stdout:
            if found := share_of_apt(line, "pmstatus"):
                steps(*found)
            else:
                last.append(line.rstrip())
    if process.returncode:
        return "\n".join(last)
    steps(1.0)
    return None


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

    def run(self, program: str, *arguments: str, cwd: Path | None = None, may_fail: bool = False, steps: Steps | None = None) -> str:
        """What the program printed. `steps` hears how far it has come with its downloads."""
        command = [program, "-c", str(self.configuration), "-o", "Debug::NoLocking=true", *arguments]
        status, said, complaints = heard(command, cwd, steps)
        if status and not may_fail:
            lines = [line for line in complaints.splitlines() if line.startswith("E:")] or ["E: no reason given"]
            raise BulkheadError(f"{program} {arguments[0]} failed: {lines[0][2:].strip()}", Status.MISSING)
        return said

    def update(self, report: Report = silent) -> None:
        self.run("apt-get", "update", "-qq", "-o", "APT::Update::Error-Mode=any", steps=Steps("reading package lists", report))

    def size_of(self, package: str) -> int:
        """Bytes to download; 0: APT does not say."""
        found = re.search(r"^Size: (\d+)$", self.run("apt-cache", "show", "--no-all-versions", package), re.MULTILINE)
        return int(found[1]) if found else 0

    def estimate(self, packages: list[str]) -> Estimate:
        """What installing would bring: names and sizes. Without --print-uris, APT installs at once what needs no further package, whatever else it is told."""
        out = self.run("apt-get", "install", "--assume-no", "--print-uris", "--no-install-recommends", *packages, may_fail=True)
        listed = re.search(r"NEW packages will be installed:\n((?: +.*\n)+)", out)
        upgraded = re.search(r"packages will be upgraded:\n((?: +.*\n)+)", out)
        names = ((listed[1] if listed else "") + (upgraded[1] if upgraded else "")).split()
        if not names:
            self.run("apt-get", "install", "--simulate", "--no-install-recommends", *packages)
        download = re.search(r"Need to get ([\d.,]+ ?\w+)", out)
        disk = re.search(r"After this operation, ([\d.,]+ ?\w+)", out)
        return Estimate(tuple(names), download[1] if download else "0 B", disk[1] if disk else "0 B")

    def install(self, packages: list[str], estimate: Estimate, report: Report) -> None:
        """Downloads as the user, then installs as root, through sudo unless this is root."""
        common = ["install", "-qq", "--yes", "--no-install-recommends", *packages]
        self.run("apt-get", *common, "--download-only", steps=Steps("downloading packages", report, bytes_of(estimate.download)))
        configure = ["-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=", "-o", "Dpkg::Use-Pty=0", "-o", "APT::Status-Fd=1"]
        settle = ["env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "apt-get", "-c", str(self.configuration), *configure, *common]
        command = settle if os.geteuid() == 0 else ["sudo", *settle]
        last = followed(command, Steps("installing packages", report))
        if last is not None:
            raise BulkheadError(f"`{' '.join(command)}` failed; the last it said:\n{last}", Status.MISSING)

    def has(self, package: str, architecture: str) -> bool:
        """As who runs that architecture would see it: what is the same for all has the machine's own."""
        option = f"APT::Architecture={architecture}"
        return bool(self.run("apt-cache", "-o", option, "show", "--no-all-versions", package, may_fail=True))

    def named_dependency(self, package: str, pattern: str) -> str:
        """The first direct dependency whose name matches, which is how a metapackage names the real one; empty: there is none."""
        text = self.run("apt-cache", "show", "--no-all-versions", package)
        match = re.search(rf"^Depends:.*?\b({pattern})", text, re.MULTILINE)
        return match[1] if match else ""

    def download(self, package: str, directory: Path, report: Report = silent) -> Path:
        """Fetches one package file, verified, into `directory`."""
        before = set(directory.glob("*.deb"))
        size = self.size_of(package)
        report(f"downloading {package}: {megabytes(size)} MB")
        steps = Steps(f"downloading {package}", report, size)
        self.run("apt-get", "download", "-qq", package, cwd=directory, steps=steps)
        fresh = sorted(set(directory.glob("*.deb")) - before)
        if len(fresh) != 1:
            raise BulkheadError(f"downloading {package} brought {len(fresh)} files instead of one", Status.MISSING)
        return fresh[0]
