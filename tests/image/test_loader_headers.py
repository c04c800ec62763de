# SPDX-License-Identifier: Apache-2.0
"""BH-F2.loaders. What boot loaders look for in the image, read as their specifications say: Multiboot2 on PCs, Linux's Image header on AArch64."""

import struct
from pathlib import Path

import pytest
from bhtool.config.plan import Plan
from bhtool.image import loadable
from bhtool.platforms import load

MULTIBOOT2_MAGIC, I386, SEARCHED_BYTES, ALIGNMENT = 0xE85250D6, 0, 32768, 8  # Multiboot2 Specification 2.0, 3.1
TAG_END, TAG_MODULE_ALIGN = 0, 6
IMAGE_HEADER = struct.Struct("<II QQQ QQQ 4sI")  # Documentation/arch/arm64/booting.rst, 4: Call the kernel image
NO_PLAN = Plan("any", Path("any.dts"))


def monitor(platform: str) -> bytes:
    return (load(platform).build / "bulkhead.elf").read_bytes()


@pytest.mark.parametrize("platform", ["qemu-svm", "bochs-vtx"])
def test_multiboot2_header(platform: str) -> None:
    file = loadable.compose(monitor(platform), NO_PLAN)
    places = [at for at in range(0, SEARCHED_BYTES, ALIGNMENT) if file[at : at + 4] == MULTIBOOT2_MAGIC.to_bytes(4, "little")]
    assert len(places) == 1
    magic, machine, length, checksum = struct.unpack_from("<IIII", file, places[0])
    assert machine == I386
    assert (magic + machine + length + checksum) % 2**32 == 0
    tags, at = [], 16
    while at < length:
        kind, _, size = struct.unpack_from("<HHI", file, places[0] + at)
        tags.append(kind)
        at += -(-size // ALIGNMENT) * ALIGNMENT
    assert tags == [TAG_MODULE_ALIGN, TAG_END]


@pytest.mark.parametrize("platform", ["qemu-aarch64", "qemu-aarch64-gicv2"])
def test_linux_image_header(platform: str) -> None:
    start, flat = loadable.flatten(monitor(platform), NO_PLAN)
    branch, _, text_offset, size, flags, *zero, magic, _ = IMAGE_HEADER.unpack_from(flat)
    assert magic == b"ARM\x64"
    assert branch >> 26 == 0b000101, "B <label>"
    assert load(platform).ram_base + text_offset == start, "loaders count from the start of RAM"
    assert size >= len(flat)
    assert flags == 0b0010, "little-endian, 4 KiB pages, near the start of RAM"
    assert zero == [0, 0, 0]
