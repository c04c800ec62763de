# SPDX-License-Identifier: Apache-2.0
"""The monitor's source in lines: what belongs to one backend, what several share, and what above hal/ knows a vendor or a register (nothing)."""

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bhtool import paths

GUESTS = ("kernel/", "tests/")  # build targets that are not of the monitor
LAYERS = ("abi", "arch", "hal", "monitor", "platforms")
OF_ONE_BACKEND = {Path("hal/x86/svm"): "svm", Path("hal/x86/vmx"): "vmx"}  # in one image, which drops the other when it starts
ABOVE_HAL = "monitor"
VENDOR_WORDS = re.compile(
    r"(?<![a-z0-9])(intel|amd|arm|vt-?x|vmx|svm|vmcs|vmcb|ept|npt|vttbr|hcr|gicv?[23]?d?|gicr|gicc|lapic|x2apic|ioapic|msr|esr|el[0-3]"
    r"|rax|rip|cr[0-4]|asid|vmid|psci|hvc|vmcall|vmmcall|(?<!bh_region_)bars?)(?![a-z0-9])",
    re.IGNORECASE,
)  # BH_REGION_BAR is a kind of region; what the register of a base address looks like is hal/pci's to know
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


@dataclass(frozen=True)
class Lines:
    """Code of one backend's monitor."""

    own: int
    shared_with_some: int
    shared_with_all: int

    @property
    def together(self) -> int:
        return self.own + self.shared_with_some + self.shared_with_all


def source_files(build: Path, backend: str) -> frozenset[Path]:
    """Every file of this project that went into the monitor: its compilations and the headers they read."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found: set[Path] = set()
    for block in listed.split("\n\n"):
        if not block.lstrip().startswith(GUESTS):
            found |= {(build / line.strip()).resolve() for line in block.splitlines()[1:]}
    inside = {path for path in found if path.is_relative_to(paths.ROOT)}
    return frozenset(path for path in inside if belongs(path.relative_to(paths.ROOT), backend))


def belongs(file: Path, backend: str) -> bool:
    """Whether a file of the repository is part of a backend's monitor, given that it is compiled for it."""
    return file.parts[0] in LAYERS and OF_ONE_BACKEND.get(file.parent, backend) == backend


def code_lines(text: str) -> int:
    """Lines with code on them: no comments, no blanks."""
    bare = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    return sum(1 for line in bare.splitlines() if line.strip())


def split(sources: Mapping[str, frozenset[Path]]) -> dict[str, Lines]:
    """For each backend, its source's lines by who else has them."""
    counted = {file: code_lines(file.read_text(encoding="utf-8")) for file in frozenset().union(*sources.values())}
    owners = {file: sum(file in files for files in sources.values()) for file in counted}

    def of(files: frozenset[Path], low: int, high: int) -> int:
        return sum(counted[file] for file in files if low <= owners[file] <= high)

    most = max(2, len(sources))  # one backend alone shares with nobody
    return {name: Lines(of(files, 1, 1), of(files, 2, most - 1), of(files, most, most)) for name, files in sources.items()}


def above_hal() -> tuple[int, list[str]]:
    """(lines above hal/, those of them that mention a vendor as `file:line: text`), comments and all."""
    total, mentions = 0, []
    for file in sorted((paths.ROOT / ABOVE_HAL).rglob("*.[chS]")):
        lines = file.read_text(encoding="utf-8").splitlines()
        total += len(lines)
        where = file.relative_to(paths.ROOT)
        mentions += [f"{where}:{number}: {line.strip()}" for number, line in enumerate(lines, 1) if VENDOR_WORDS.search(line)]
    return total, mentions
