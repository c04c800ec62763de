# SPDX-License-Identifier: Apache-2.0
"""The machines Bulkhead knows: each is a folder platforms/NAME with a platform.toml beside its board header."""

import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bhtool import paths
from bhtool.errors import BulkheadError, Status

DEFAULT = "qemu-aarch64"


@dataclass(frozen=True)
class Emulator:
    program: str
    arguments: tuple[str, ...]
    serials: tuple[str, ...]  # role labels, in the order of QEMU's -serial options
    good_exits: tuple[int, ...]  # statuses that mean "the machine switched itself off"
    icount_shift: int
    counts_linux: bool  # whether Linux runs at full speed under icount
    clock_hz: int  # of the guests' counter; 0: measured by the monitor, which tells each sandbox


@dataclass(frozen=True)
class Platform:
    name: str
    title: str
    arch: str
    backend: str
    proves: str
    cannot: str
    emulator: Emulator
    ram_base: int
    ram_size: int
    linux_package: str
    debian_architecture: str

    @property
    def board(self) -> Path:
        return paths.ROOT / "dts" / "boards" / f"{self.name}.dtsi"

    @property
    def build(self) -> Path:
        return paths.BUILD / self.name

    @property
    def cross_file(self) -> Path:
        return paths.CROSS / f"{self.arch}.ini"

    @property
    def available(self) -> bool:
        return shutil.which(self.emulator.program) is not None


def from_toml(name: str, tree: dict[str, Any]) -> Platform:
    emulator, ram, linux = tree["emulator"], tree["ram"], tree["linux"]
    return Platform(
        name=name,
        title=tree["title"],
        arch=tree["arch"],
        backend=tree["backend"],
        proves=tree["proves"],
        cannot=tree["cannot"],
        emulator=Emulator(
            program=emulator["program"],
            arguments=tuple(emulator["arguments"]),
            serials=tuple(emulator["serials"]),
            good_exits=tuple(emulator["good_exits"]),
            icount_shift=emulator["icount_shift"],
            counts_linux=emulator["counts_linux"],
            clock_hz=emulator["clock_hz"],
        ),
        ram_base=ram["base"],
        ram_size=ram["size"],
        linux_package=linux["package"],
        debian_architecture=linux["architecture"],
    )


def names() -> list[str]:
    return sorted(path.parent.name for path in paths.PLATFORMS.glob("*/platform.toml"))


def load(name: str) -> Platform:
    path = paths.PLATFORMS / name / "platform.toml"
    if not path.exists():
        raise BulkheadError(f"no platform is called {name}; there are {', '.join(names())}", Status.USAGE)
    with path.open("rb") as file:
        return from_toml(name, tomllib.load(file))


def every() -> list[Platform]:
    return [load(name) for name in names()]
