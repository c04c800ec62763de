# SPDX-License-Identifier: Apache-2.0
"""A program in C for a Linux sandbox, linked with Debian's own C library for its processor; nothing of it is installed."""

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bhtool.image import payloads
from bhtool.image.linux_module import unpacked, unpacked_place
from bhtool.platforms import Platform

PACKAGES = ("libc6-dev", "linux-libc-dev", "libgcc-12-dev")
TARGETS = {  # by Debian's architecture of the programs that the tool puts beside a kernel
    "amd64": ("--target=x86_64-linux-gnu",),
    "arm64": ("--target=aarch64-linux-gnu",),
    "armel": ("--target=arm-linux-gnueabi", "-march=armv7-a", "-mfloat-abi=soft", "-marm"),
}


def compiled_program(platform: Platform, sources: Sequence[Path], folders: Sequence[Path]) -> bytes:
    architecture = platform.programs_architecture
    apt = payloads.debian_apt()
    packages = [f"{name}:{architecture}" for name in PACKAGES]
    with apt.locked():
        apt.prepare()
        root = unpacked(apt, packages, unpacked_place(f"libc-{architecture}", packages), lambda _: None, lambda _: None)
    with tempfile.TemporaryDirectory() as name:
        target = Path(name) / "program"
        words = [
            "clang-19",
            *TARGETS[architecture],
            f"--sysroot={root}",
            "-static",
            "-fuse-ld=lld",
            "-O2",
            "-std=c11",
            "-D_GNU_SOURCE",
            "-D_FILE_OFFSET_BITS=64",
        ]
        words += ["-Wall", "-Wextra", "-Werror", "-Wl,-s", *(f"-I{one}" for one in folders), "-o", str(target), *map(str, sources)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return target.read_bytes()


def root_file_system(platform: Platform, programs: dict[str, bytes]) -> bytes:
    """The tool's, with programs in /bin besides."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name, content in programs.items():
            item = tarfile.TarInfo(f"bin/{name}")
            item.size = len(content)
            archive.addfile(item, io.BytesIO(content))
    busybox = payloads.cached("busybox-static", platform.programs_architecture, "./bin/busybox", "", lambda _: None)
    return payloads.initramfs_bytes(busybox.read_bytes(), tar.getvalue())
