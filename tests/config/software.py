# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for sandbox software: just enough of each format for the compiler to place it, or to refuse it."""

import functools
import gzip
import json
import os
import struct
import zipfile
from pathlib import Path

from bhtool.config.payload import NotYet
from bhtool.config.rootfs.cpio import Archive

LINK = {"aarch64": 0x40080000, "armv7": 0x40080000, "x86_64": 0x200000}
MODULES = ("virtio_net", "e1000e", "nvme", "ext4", "kvaser_pci", "can_raw")
MACHINE = {"aarch64": 183, "armv7": 40, "x86_64": 62}


def elf(machine: int, address: int, content: bytes = b"code", size: int = 64, count: int = 1) -> bytes:
    """An executable of `count` segments, all the same, entered at their start."""
    if machine == MACHINE["armv7"]:
        header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, machine, 1, address, 52, 0, 0, 52, 32, count, 0, 0, 0)
        return header + struct.pack("<IIIIIIII", 1, 52 + 32 * count, address, address, len(content), size, 5, 4) * count + content
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, machine, 1, address, 64, 0, 0, 64, 56, count, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 1, 5, 64 + 56 * count, address, address, len(content), size, 8) * count + content


def multiboot(version: int) -> bytes:
    """A header of Multiboot, with which an image may begin."""
    words = [0x1BADB002, 0] if version == 1 else [0xE85250D6, 0, 16]
    return struct.pack(f"<{len(words) + 1}I", *words, -sum(words) & 0xFFFFFFFF)


def kernel_for_pcs(version: int) -> bytes:
    """As kvm-unit-tests' are, by Multiboot 1 and in the class of 32 bits; one by Multiboot 2 in the other class."""
    if version == 2:
        return elf(MACHINE["x86_64"], LINK["x86_64"], multiboot(2))
    image = bytearray(elf(MACHINE["armv7"], 4 << 20, multiboot(1)))
    image[18:20] = struct.pack("<H", 3)
    return bytes(image)


def contract_elf(machine: int, address: int, contract: int, name: bytes = b"Bulkhead\0") -> bytes:
    """The same with a second program header: a note that names the version of the guest contract."""
    note = struct.pack("<III", len(name), 4, 1) + name.ljust(len(name) + 3 & ~3, b"\0") + struct.pack("<I", contract)
    image = bytearray(elf(machine, address, note, count=2))
    struct.pack_into("<I", image, 52 + 32 if machine == MACHINE["armv7"] else 64 + 56, 4)
    return bytes(image)


def arm64_kernel(image_size: int = 0x100000) -> bytes:
    """The header of an arm64 Image."""
    image = bytearray(4096)
    struct.pack_into("<QQ", image, 8, 0, image_size)
    image[56:60] = b"ARM\x64"
    return bytes(image)


def arm32_kernel(_: int = 0) -> bytes:
    """The magic number of a zImage; the size is that of the file: `lengths`."""
    image = bytearray(4096)
    struct.pack_into("<I", image, 0x24, 0x016F2818)
    return bytes(image)


def x86_kernel(init_size: int = 0x2000000, xloadflags: int = 1) -> bytes:
    """A bzImage of four setup sectors and a little kernel."""
    image = bytearray(0x3000)
    image[0x1F1], image[0x201], image[0x202:0x206] = 4, 0x6A, b"HdrS"
    struct.pack_into("<H", image, 0x206, 0x20F)
    struct.pack_into("<H", image, 0x236, xloadflags)
    struct.pack_into("<I", image, 0x238, 2047)
    struct.pack_into("<I", image, 0x260, init_size)
    image[0xA00:] = b"k" * (0x3000 - 0xA00)
    return bytes(image)


def root_file_system(**files: bytes) -> bytes:
    """A cpio archive, not compressed."""
    archive = Archive()
    for name, content in files.items():
        archive.program(name, content)
    return gzip.decompress(archive.packed())


def unexecutable() -> bytes:
    """With an /init that nobody may execute."""
    archive = Archive()
    archive.file("init", b"#!/bin/sh\n")
    return archive.plain()


INITRD = gzip.compress(root_file_system(init=b"#!/bin/sh\n" * 100), mtime=0)


def lengths(arch: str) -> dict[str, int]:
    """Of files that end in a hole, which costs neither time nor room."""
    kernels = {"vmlinuz": 1 << 20, "vmlinuz-big": 192 << 20} if arch == "armv7" else {}
    return {**kernels, "huge.elf": 1 << 40}


@functools.cache
def packed(size: int) -> bytes:
    """An initrd that unpacks to so many MiB and is small itself."""
    return gzip.compress(root_file_system(init=bytes(size << 20)), compresslevel=1, mtime=0)


def software(arch: str) -> dict[str, bytes]:
    """The content of everything the partition files of these tests name."""
    other = "aarch64" if arch == "x86_64" else "x86_64"
    good = elf(MACHINE[arch], LINK[arch])
    kernel = {"aarch64": arm64_kernel, "armv7": arm32_kernel, "x86_64": x86_kernel}[arch]
    return {
        "sandbox-kernel.elf": good,
        "dma-storm.elf": good,
        "cut.elf": good[:-2],
        "large.elf": elf(MACHINE[arch], LINK[arch], size=3 << 20),
        "other.elf": elf(MACHINE[other], LINK[arch]),
        "apic.flat": kernel_for_pcs(1),
        "multiboot2.elf": kernel_for_pcs(2),
        "newer.elf": contract_elf(MACHINE[arch], LINK[arch], 1000),
        "far.elf": elf(MACHINE[arch], 0x42000000),
        "low.elf": elf(MACHINE[arch], 0x18000),
        "segments.elf": elf(MACHINE[arch], LINK[arch], size=8 << 20, count=400),
        "overlapping.elf": elf(MACHINE[arch], LINK[arch], count=2),
        "claims.elf": elf(MACHINE[arch], LINK[arch], size=0xF0000000),
        "bottom.elf": elf(MACHINE[arch], 0x40000000),
        "stack.elf": elf(MACHINE[arch], LINK[arch] - 0x800),
        "text": b"not a program\n",
        "vmlinuz": kernel(),
        "vmlinuz-big": kernel(0xC000000),
        "vmlinuz-32": x86_kernel(xloadflags=0),
        "rootfs.cpio.gz": INITRD,
        "rootfs-can.cpio.gz": INITRD,
        "rootfs-channels.cpio.gz": INITRD,
        "rootfs-1M.cpio": root_file_system(init=bytes((1 << 20) - 1024)),
        "rootfs-large.cpio.gz": packed(100),
        "rootfs-half.cpio.gz": packed(60),
        "rootfs-empty.cpio": root_file_system(etc=b""),
        "rootfs-unexecutable.cpio": unexecutable(),
        "rootfs-cut.cpio.gz": INITRD[:-20],
        "rootfs.cpio.zst": b"\x28\xb5\x2f\xfd" + bytes(200),
        "huge.elf": b"",
    }


def write_modules(file: Path) -> None:
    """A kernel with a few modules, and one built in."""
    modules = {name: {"path": f"kernel/{name}.ko", "needs": [], "aliases": []} for name in MODULES}
    with zipfile.ZipFile(file, "w") as store:
        store.writestr("index.json", json.dumps({"version": "6.1.0-9", "modules": modules, "built_in": ["proc"]}))
        for name in MODULES:
            store.writestr(f"kernel/{name}.ko", b"module")


class Files:
    """A resolver over files in a folder."""

    def __init__(self, folder: Path, arch: str) -> None:
        self.folder = folder / arch
        self.folder.mkdir(exist_ok=True)
        for name, content in software(arch).items():
            (self.folder / name).write_bytes(content)
        for name, length in lengths(arch).items():
            os.truncate(self.folder / name, length)
        for name in ("root", "rootless"):
            (self.folder / name).mkdir(exist_ok=True)
        (self.folder / "root" / "init").touch()
        (self.folder / "root" / "init").chmod(0o755)
        write_modules(self.folder / "vmlinuz.modules")
        (self.folder / "vmlinuz.bulkhead.ko").write_bytes(b"module")

    def __call__(self, name: str) -> Path:
        path = self.folder / (name.rpartition("/")[2] if name.startswith("linux-image-") else name)
        if name == "unbuilt.elf":
            raise NotYet(name)
        if not path.exists():
            raise FileNotFoundError(name)
        return path
