# SPDX-License-Identifier: Apache-2.0
"""`bulkhead image` writes what it says, and refuses what no machine would boot."""

import subprocess
import sys
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.errors import Status

from tests.tool.conftest import Inside

NATIVE = paths.PARTITIONS / "native.dts"
BROKEN = paths.ROOT / "tests" / "config" / "broken" / "BH-R020-core.dts"
ISO, FAT, ELF = (0x8001, b"CD001"), (510, b"\x55\xaa"), (0, b"\x7fELF")  # ECMA-119, 8.1; FAT boot sector; System V ABI


def bulkhead(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, paths.ROOT / "tools" / "bulkhead", "image", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("platform", "options", "magic"),
    [
        ("qemu-svm", [], ISO),
        ("qemu-svm", ["--format", "elf"], ELF),
        ("qemu-aarch64", [], FAT),
        ("qemu-aarch64", ["--format", "elf"], ELF),
    ],
)
def test_image_is_written(platform: str, options: list[str], magic: tuple[int, bytes], tmp_path: Path) -> None:
    file = tmp_path / "image"
    done = bulkhead("--platform", platform, "--partition", NATIVE, "-o", file, *options)
    assert done.returncode == Status.GOOD, done.stderr
    offset, expected = magic
    assert file.read_bytes()[offset : offset + len(expected)] == expected
    assert str(file) in done.stdout.replace("\n", "")
    assert f"packing {file.name}" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["-o", "image"],
        ["--platform", "qemu-svm"],
        ["--platform", "qemu-svm", "-o", "image", "--format", "fit"],
        ["--platform", "qemu-aarch64", "-o", "image", "--format", "iso"],
        ["--platform", "qemu-aarch64", "-o", "image", "--format", "floppy"],
    ],
)
def test_usage(arguments: list[str], inside: Inside) -> None:
    assert inside("image", *arguments) == Status.USAGE


def test_a_refused_partition_makes_no_image(tmp_path: Path) -> None:
    file = tmp_path / "image"
    done = bulkhead("--platform", "qemu-aarch64", "--partition", BROKEN, "-o", file)
    assert done.returncode == Status.FAILED
    assert "BH-R020" in done.stderr
    assert not file.exists()
