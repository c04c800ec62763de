# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux. What Linux is told of its channels, the library finds where Linux shows it: a program in a kernel without the module has nothing else."""

import errno
import subprocess
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.config.tree import Node, read_blob

from tests.config.test_linux_channels import ARM, DSDT, FIRST, ORDERS, OTHERS, PCS, SPEED, TOLD, Compile, linux_of, memory_at, written

LIBRARY = paths.ROOT / "tools" / "linux" / "lib"
SOURCES = [Path(__file__).with_name("describe.c"), LIBRARY / "description.c", LIBRARY / "description_aml.c"]
NOT_THERE = str(-errno.ENOENT)


@pytest.fixture(scope="session")
def describe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("describe") / "describe"
    options = ["-std=c11", "-D_GNU_SOURCE", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    folders = [f"-I{LIBRARY}", f"-I{LIBRARY.parent / 'include' / 'uapi'}"]
    subprocess.run(["clang-19", *options, *folders, *map(str, SOURCES), "-o", program], check=True, timeout=60)
    return program


def said(describe: Path, root: Path, *names: str) -> list[str]:
    return subprocess.run([describe, root, *names], check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


def unfold(node: Node, folder: Path) -> None:
    """As Linux shows a device tree."""
    folder.mkdir(parents=True)
    for one in node.properties.values():
        (folder / one.name).write_bytes(one.data)
    for child in node.children.values():
        unfold(child, folder / child.name)


def put_table(table: bytes, root: Path) -> None:
    file = root / "sys" / "firmware" / "acpi" / "tables" / "DSDT"
    file.parent.mkdir(parents=True)
    file.write_bytes(table[: int.from_bytes(table[4:8], "little")])  # as long as it says; memory goes on behind it


@pytest.mark.parametrize("platform", [*ARM, *PCS])
def test_each_is_found_as_it_is(compile_on: Compile, platform: str, describe: Path, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, SPEED, ORDERS, OTHERS), platform)
    if platform in PCS:
        put_table(memory_at(plan, DSDT), tmp_path)
    else:
        unfold(read_blob(memory_at(plan, linux_of(plan).arg)), tmp_path / "sys" / "firmware" / "devicetree" / "base")
    assert said(describe, tmp_path, *(one[0] for one in TOLD), "others", "nothing") == [
        *(f"{name} {peer} {end} {FIRST[platform] + offset:#x} {page:#x} {size:#x} 0" for name, peer, end, offset, page, size in TOLD),
        NOT_THERE,
        NOT_THERE,
    ]


def test_the_most_channels_with_the_longest_names_are_found(compile_on: Compile, describe: Path, tmp_path: Path) -> None:
    names = [chr(ord("a") + n) + "x" * 30 for n in range(16)]
    plan = compile_on(written(tmp_path, *(SPEED.replace("speed {", f"{name} {{") for name in names)), PCS[0])
    put_table(memory_at(plan, DSDT), tmp_path)
    assert [line.split()[0] for line in said(describe, tmp_path, *names)] == names
