# SPDX-License-Identifier: Apache-2.0
"""Bochs 3.0, built once from Debian's source package and kept in the cache. Standard library only.

Debian 12 has 2.7, whose VT-x is not good enough; Debian 13 packages 3.0, with everything in it that makes it slow. Either way
the errors that matter here are not mended. So: upstream's text as Debian keeps it, a few lines of it changed (EDITS), and only
what these machines need configured.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.locks import exclusive
from bhtool.provision.apt import PrivateApt
from bhtool.provision.progress import Report, Steps
from bhtool.provision.sources import machine_sources, main_entry, release

SUITE = "trixie"
VERSION = "3.0"
TARBALL = "bochs_3.0+dfsg.orig.tar.xz"
SHA256 = "78f6c73d4a6472d5130a87ab9dc306d02c7c71ed8e25b3a8ef642e2a7acd282b"
ADDITIONS = tuple(paths.ROOT / "tools" / "bochs" / name for name in ("guest_ram.cc", "guest_clock.cc"))  # linked into it
SOURCE_BYTES = 4_000_000  # with Debian's part, nearly
EFFORT = "4 MB to download and about 2 minutes, once"
OPTIONS = (
    "--enable-x86-64",
    "--enable-smp",
    "--enable-cpu-level=6",
    "--enable-vmx=2",
    "--enable-svm",
    "--enable-avx",
    "--enable-evex",
    "--enable-protection-keys",
    "--enable-pci",
    "--enable-ne2000",
    "--enable-fast-function-calls",
    "--disable-show-ips",
    "--disable-docbook",
    "--with-nogui",
)


@dataclass(frozen=True)
class Edit:
    """Lines of a file, which must be there exactly so often, and what stands in their place."""

    path: str
    lines: str
    replacement: str
    times: int = 1

    def apply(self, tree: Path) -> None:
        file = tree / self.path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if text.count(self.lines) != self.times:
            expected = f"{self.times} times in its {self.path}: {self.lines.strip()}"
            raise BulkheadError(f"Bochs is not the one this tool knows how to mend; this should stand {expected}", Status.MISSING)
        file.write_text(text.replace(self.lines, self.replacement), encoding="utf-8")


def turn_over(indent: str, times: int) -> Edit:
    """Between two rounds of a repeated string instruction other cores have their turn, as between any two instructions."""
    condition, rest = f"\n{indent}if (BX_CPU_THIS_PTR async_event", f")\n{indent}  break; // exit always"
    return Edit("cpu/cpu.cc", condition + rest, f"{condition} || BX_SMP_PROCESSORS > 1{rest}", times)


NMI = "  else if (is_unmasked_event_pending(BX_EVENT_NMI)) {\n"
TIME = "  ticksTotal += Bit64u(currCountdownPeriod);\n"
EDITS = (
    # An NMI that ends a guest's turn right after one of its exceptions saved the instruction pointer of before.
    Edit("cpu/event.cc", NMI, NMI + "    BX_CPU_THIS_PTR prev_rip = RIP;\n"),
    # RAM in the order of its addresses instead of in that of first use: how upstream has it, but disabled.
    Edit("memory/memory_stub.cc", "  if (0) {\n", "  if (host == guest) {\n"),
    # A network card that is connected to nothing would write what it sends to files in the current folder.
    Edit("iodev/network/eth_null.cc", "#define BX_ETH_NULL_LOGGING 1\n", "#define BX_ETH_NULL_LOGGING 0\n"),
    # A long copy by one core would otherwise be one instant in which all others stand still.
    turn_over(" " * 6, 3),
    turn_over(" " * 8, 6),
    # At each event of a timer, the time goes to guest_clock.cc.
    Edit(
        "pc_system.cc",
        TIME,
        TIME + "  void guest_clock_tell(unsigned long);\n  guest_clock_tell((Bit64u)((double)(Bit64s)ticksTotal / m_ips));\n",
    ),
)


def stamp() -> str:
    """Names what the binary was made of, and for which release, as that one's libraries are linked to it."""
    text = repr((SHA256, OPTIONS, EDITS, release())) + "".join(file.read_text(encoding="utf-8") for file in ADDITIONS)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def program() -> Path:
    """Where the binary is, or will be."""
    return paths.cache() / "bochs" / f"{VERSION}-{stamp()}" / "bochs"


def lacking() -> str:
    return "" if program().exists() else "missing"


def source_apt() -> PrivateApt:
    _, codename = release()
    entry = main_entry(machine_sources(), codename)
    if entry is None:
        raise BulkheadError("Bochs is built from Debian's source package: this machine needs an APT source of Debian's own", Status.MISSING)
    return PrivateApt(paths.cache() / "apt-bochs", (replace(entry.with_suite(SUITE), types="deb-src"),))


def fetch(directory: Path, report: Report) -> Path:
    """The upstream text, by APT; a mirror may lack the description file beside it, so only what came is judged."""
    apt = source_apt()
    with apt.locked():
        apt.prepare()
        apt.update(report)
        steps = Steps("downloading the source package", report, SOURCE_BYTES)
        apt.run("apt-get", "source", "--download-only", "-qq", f"bochs/{SUITE}", cwd=directory, may_fail=True, steps=steps)
    tarball = directory / TARBALL
    if not tarball.exists() or hashlib.sha256(tarball.read_bytes()).hexdigest() != SHA256:
        where = f"look whether the APT source of this machine reaches the suite {SUITE}, and run `tools/bulkhead setup` again"
        raise BulkheadError(f"Debian's source package of Bochs brought no {TARBALL} as this tool knows it: {where}", Status.MISSING)
    return tarball


def run(command: list[str], tree: Path, progress: Callable[[str], None] = lambda line: None) -> None:
    """Hands every line of output to `progress`; the last one explains a failure."""
    last = "no reason given"
    with subprocess.Popen(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        assert process.stdout is not None
        for line in process.stdout:
            progress(line)
            last = line.strip() or last
    if process.returncode:
        again = "mend what it names and run `tools/bulkhead setup` again"
        raise BulkheadError(f"Bochs cannot be built: {command[0]} failed: {last}; {again}", Status.MISSING)


class Compilations:
    """Counts them in the output of make."""

    def __init__(self, total: int, report: Report) -> None:
        self._total, self._steps, self._done = max(total, 1), Steps("compiling Bochs", report), 0

    def line(self, line: str) -> None:
        if " -c " in line:
            self._done += 1
            self._steps(self._done / self._total)


def build(tree: Path, report: Report) -> Path:
    """Configures and compiles; the binary."""
    for edit in EDITS:
        edit.apply(tree)
    for file in ADDITIONS:
        shutil.copy(file, tree)
        run(["g++", "-O2", "-c", file.name], tree)
    run(["./configure", *OPTIONS, "CFLAGS=-O2", "CXXFLAGS=-O2"], tree)
    command = ["make", f"-j{os.cpu_count() or 1}", "bochs", "LDFLAGS=" + " ".join(f"{file.stem}.o" for file in ADDITIONS)]
    listed = subprocess.run([*command, "--dry-run"], cwd=tree, capture_output=True, text=True, check=False).stdout
    run(command, tree, Compilations(sum(" -c " in line for line in listed.splitlines()), report).line)
    return tree / "bochs"


def ensure_bochs(report: Report) -> None:
    """Builds it unless it is there; put in place whole or not at all."""
    if not lacking():
        return
    place = program()
    with exclusive(place.parent.parent), tempfile.TemporaryDirectory(prefix="bulkhead-bochs-") as name:
        if place.exists():
            return
        report(f"Building Bochs {VERSION} from Debian's source package: {EFFORT}")
        shutil.unpack_archive(fetch(Path(name), report), name)
        binary = build(Path(name) / f"bochs-{VERSION}", report)
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_suffix(".part")
        shutil.copy(binary, part)
        part.replace(place)
