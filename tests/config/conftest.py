# SPDX-License-Identifier: Apache-2.0
"""Compiles partition files of the tests on a platform, with stand-ins for their software."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cffi
import pytest
from bhtool.config import Plan, compile_partition
from bhtool.paths import ROOT
from bhtool.platforms import load

from tests.config.software import Files

Compile = Callable[[Path, str], Plan]
IMAGE_START = {"qemu-svm": 0x100000, "bochs-vtx": 0x100000}


@pytest.fixture(scope="session")
def compile_on(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    folder = tmp_path_factory.mktemp("software")

    def compile_one(partition: Path, platform_name: str) -> Plan:
        platform = load(platform_name)
        return compile_partition(partition, platform, Files(folder, platform.arch))

    return compile_one


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
                       str(Path(__file__).with_name("refuse.c")), str(ROOT / "monitor" / "table_boot.c"),
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
