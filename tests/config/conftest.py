# SPDX-License-Identifier: Apache-2.0
"""Compiles partition files of the tests on a platform, with stand-ins for their software."""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cffi
import pytest
from bhtool.abi import lib
from bhtool.config import compile
from bhtool.config.compile import compile_partition
from bhtool.config.machine import Costs
from bhtool.config.plan import Plan
from bhtool.config.private import read_private
from bhtool.paths import ROOT
from bhtool.platforms import Platform, load

from tests.config.software import Files

Compile = Callable[[Path, str], Plan]
COSTS = Costs(told_switch=10_000, told_top_half=15_000)  # what numbers written into these tests are made with, whatever was measured last
BOARD_PART = "BOARD_TREE"
IOMMU = re.compile(r"/\* BOARD_IOMMU (\w+) (0x[0-9a-f]+) (0x[0-9a-f]+) \*/")
OTHER_IOMMU = "/delete-node/ &iommu;\n/delete-node/ &nic0;\n/delete-node/ &nic1;\n/delete-node/ &nic2;\n/delete-node/ &disk0;\n&pci0 { /delete-property/ iommu-map; };\n"
IMAGE_START = {"qemu-svm": 0x100000, "bochs-vtx": 0x100000}


def with_board_part(platform: Platform, partition: Path, folder: Path) -> Platform | SimpleNamespace:
    """A partition file of these tests may bring a part of the board tree, in `#ifdef BOARD_TREE`: the board is then its own with that part.
    If it says what IOMMU the board has, its own is none.
    """
    text = partition.read_text(errors="replace") if partition.is_file() else ""
    if f"#ifdef {BOARD_PART}" not in text:
        return platform
    less = OTHER_IOMMU if IOMMU.search(text) and read_private(platform.board_name).iommu else ""
    board = folder / f"{platform.name}-{partition.stem}.dtsi"
    board.write_text(f'#include "{platform.board}"\n{less}#define {BOARD_PART}\n#include "{partition}"\n#undef {BOARD_PART}\n')
    names = ("board_name", "arch", "backend", "switch_ns", "top_half_ns")
    return SimpleNamespace(board=board, **{name: getattr(platform, name) for name in names})


def load_with_costs(platform_name: str) -> Platform:
    """A platform on which switches and top halves take COSTS."""
    return replace(load(platform_name), switch_ns=COSTS.told_switch, top_half_ns=COSTS.told_top_half)


@contextmanager
def with_iommu(partition: Path) -> Iterator[None]:
    """A partition file of these tests may say what IOMMU board.h names: `BOARD_IOMMU BH_IOMMU_SMMUV3 0x9050000 0x0` in a comment."""
    found = IOMMU.search(partition.read_text(errors="replace")) if partition.is_file() else None
    with pytest.MonkeyPatch.context() as patch:
        if found:
            named = int(getattr(lib, found[1])), int(found[2], 16), int(found[3], 16)
            patch.setattr(compile, "read_private", lambda name: replace(read_private(name), iommu=named if named[0] else None))
        yield


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Files]:
    """The stand-ins of an architecture, written once."""
    folder = tmp_path_factory.mktemp("software")
    return cache(lambda arch: Files(folder, arch))


def compiles(load_it: Callable[[str], Platform], files: Callable[[str], Files], folder: Path) -> Compile:
    def compile_one(partition: Path, platform_name: str) -> Plan:
        platform = with_board_part(load_it(platform_name), partition, folder)
        with with_iommu(partition):
            return compile_partition(partition, platform, files(platform.arch))

    return compile_one


@pytest.fixture(scope="session")
def compile_on(files: Callable[[str], Files], tmp_path_factory: pytest.TempPathFactory) -> Compile:
    return compiles(load_with_costs, files, tmp_path_factory.mktemp("boards"))


@pytest.fixture(scope="session")
def compile_as_shipped(files: Callable[[str], Files], tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """With the platform's own costs, as its users do."""
    return compiles(load, files, tmp_path_factory.mktemp("shipped"))


@pytest.fixture(scope="session")
def monitor_refuses(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, bytes], str]:
    """What the monitor of a platform has against a table; "" nothing."""
    folder = tmp_path_factory.mktemp("monitor")
    loaded: dict[str, Any] = {}
    ffi = cffi.FFI()
    ffi.cdef("const char *refuse(const void *table);")

    def refuse(platform: str, table: bytes) -> str:
        library = folder / f"{platform}.so"
        if platform not in loaded:
            command = ["clang-19", "-std=c17", "-shared", "-fPIC", "-I", str(ROOT), "-I", str(ROOT / "platforms" / platform),
                       "-I", str(ROOT / "tests" / "unit" / "fake"),
                       f"-DIMAGE_START={IMAGE_START.get(platform, 0x40010000):#x}", "-o", str(library),
                       str(Path(__file__).with_name("refuse.c")), *map(str, (ROOT / "monitor" / "boot" / "table").glob("*_boot.c")),
                       str(ROOT / "hal" / "pci" / "bases_boot.c")]  # fmt: skip
            subprocess.run(command, check=True)
            loaded[platform] = ffi.dlopen(str(library))
        why = loaded[platform].refuse(ffi.from_buffer(bytearray(table)))
        if why == ffi.NULL:
            return ""
        words = ffi.string(why)
        assert isinstance(words, bytes)
        return words.decode()

    return refuse
