# SPDX-License-Identifier: Apache-2.0
"""clang-tidy, once for each text: what it had nothing to say of is noted in the cache that clones share, under a hash of all it was told."""

import functools
import hashlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bhtool.paths import cache

from tests.structure.test_layers import ROOT

PLATFORMS = ("qemu-svm", "bochs-vtx", "qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7")
TIDY = "clang-tidy-19"
CLEAN = cache() / "tidy"


@dataclass(frozen=True)
class Unit:
    """A source as it is compiled for a platform, with everything that it includes."""

    platform: str
    target: str  # the processor's name
    source: str
    commands: tuple[str, ...]  # more than one if several programs of the machine have it
    inputs: tuple[Path, ...]

    def key(self) -> str:
        texts = (f"{named(path)}\n{text_of(path)}" for path in self.inputs)
        told = [version(), (ROOT / ".clang-tidy").read_text(), *self.commands, *texts]
        return hashlib.sha256("\0".join(told).encode()).hexdigest()

    def complaints(self) -> str:
        """What clang-tidy has against it; nothing is run if it had nothing against the same before."""
        note = CLEAN / self.key()
        if note.exists():
            return ""
        command = [TIDY, "--quiet", "-p", f"build/{self.platform}", self.source]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stdout + done.stderr
        CLEAN.mkdir(parents=True, exist_ok=True)
        note.touch()
        return ""


@functools.cache
def version() -> str:
    return subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout


def named(path: Path) -> Path:
    """The same in every clone."""
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


@functools.cache
def text_of(path: Path) -> str:
    return path.read_text()


def included(platform: str) -> dict[str, set[Path]]:
    """What each object was made of, as Ninja knows."""
    build = ROOT / "build" / platform
    said = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    blocks = (block.splitlines() for block in said.split("\n\n") if block)
    return {head.split(":", 1)[0]: {(build / line.strip()).resolve() for line in lines} for head, *lines in blocks}


@functools.cache
def units(platform: str) -> tuple[Unit, ...]:
    """All that is compiled for it, but for programs that are built when somebody asks for them."""
    made_of, commands = included(platform), dict[str, list[dict[str, str]]]()
    for entry in json.loads((ROOT / "build" / platform / "compile_commands.json").read_text()):
        if entry["output"] in made_of:
            commands.setdefault(entry["file"].removeprefix("../../"), []).append(entry)
    return tuple(unit_of(platform, source, entries, made_of) for source, entries in sorted(commands.items()))


def unit_of(platform: str, source: str, entries: list[dict[str, str]], made_of: dict[str, set[Path]]) -> Unit:
    texts = tuple(sorted(entry["command"] for entry in entries))
    inputs = set[Path]().union(*(made_of[entry["output"]] for entry in entries))
    return Unit(platform, texts[0].split("--target=", 1)[1].split()[0], source, texts, tuple(sorted(inputs)))


def new_on(platform: str) -> Iterator[tuple[Unit, bool]]:
    """What no earlier platform has in the same form, and whether one has it for another processor."""
    earlier = [unit for one in PLATFORMS[: PLATFORMS.index(platform)] for unit in units(one)]
    forms, sources = {(unit.target, unit.source) for unit in earlier}, {unit.source for unit in earlier}
    for unit in units(platform):
        if (unit.target, unit.source) not in forms:
            yield unit, unit.source in sources
