# SPDX-License-Identifier: Apache-2.0
"""The library and the example as a debugger and a compiler see them, without a machine."""

import re
import subprocess
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.delivery.sdk import SOURCES
from bhtool.families.table import FAMILIES


@pytest.mark.parametrize("arch", FAMILIES)
def test_no_backtrace_shows_a_variable_of_the_entry(arch: str) -> None:
    """The register that held it is used for something else by then."""
    command = [
        "clang-19",
        *FAMILIES[arch].programs.sdk.split(),
        "-ffreestanding",
        "-O2",
        "-g",
        f"-I{paths.ROOT}",
        "-S",
        "-emit-llvm",
        "-o",
        "-",
    ]
    done = subprocess.run([*command, str(SOURCES / arch / "cpu.c")], capture_output=True, check=True, text=True, timeout=60)
    described = re.findall(r'!DISubprogram\(name: "(\w+)"', done.stdout)
    assert "bulkhead_call" in described
    assert not {"_start", "enter"} & set(described)


@pytest.mark.parametrize(("arguments", "level"), [((), "-O2"), (("CFLAGS=-O0",), "-O0")])
def test_a_guest_is_made_for_a_debugger_where_asked(arguments: tuple[str, ...], level: str, tmp_path: Path) -> None:
    (tmp_path / "hello.c").touch()
    command = ["make", "-n", "-C", str(tmp_path), "-f", str(SOURCES / "example" / "Makefile"), *arguments]
    words = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60).stdout.split()
    assert [one for one in words if one.startswith("-O")] == [level]
    assert "-g" in words
