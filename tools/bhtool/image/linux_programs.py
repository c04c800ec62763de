# SPDX-License-Identifier: Apache-2.0
"""Programs for a Linux sandbox, in C, linked with Debian's own C library for its processor, which is unpacked in the cache and not installed; and the root
file system that has those for channels, tools/linux/console, tools/linux/top and tools/linux/samples."""

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bhtool import paths
from bhtool.errors import BulkheadError
from bhtool.image import payloads
from bhtool.image.linux_module import SHOWN_LINES, SOURCES, stamp_of, unpacked, unpacked_place
from bhtool.image.payloads import Report
from bhtool.platforms import Platform

PACKAGES = ("libc6-dev", "linux-libc-dev", "libgcc-12-dev")
TARGETS = {  # by Debian's architecture of the programs that the tool puts beside a kernel
    "amd64": ("--target=x86_64-linux-gnu",),
    "arm64": ("--target=aarch64-linux-gnu",),
    "armel": ("--target=arm-linux-gnueabi", "-march=armv7-a", "-mfloat-abi=soft", "-marm"),
}
STATIC, SHARED = ("-static",), ("-shared", "-fPIC", "-nostdlib")  # a library for programs that have Debian's C library
WORDS = ("-fuse-ld=lld", "-O2", "-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64")
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wl,-s")
LIBRARY = sorted((SOURCES / "lib").glob("*.c"))
INCLUDED = (SOURCES / "lib", SOURCES / "include", SOURCES / "include" / "uapi", paths.ABI)
CONSOLE, TOP = SOURCES / "console", SOURCES / "top"
CHANNEL_PROGRAMS = {
    "bulkhead-console": [CONSOLE / f"{name}.c" for name in ("bulkhead_console", "carry")],
    "bulkhead-sink": [SOURCES / "samples" / "bulkhead_sink.c"],
    "bulkhead-top": [TOP / f"{name}.c" for name in ("bulkhead_top", "value", "view")],
}
EXECUTABLE = 0o755


def _as_they_are(_: Path) -> None:
    """Nothing of these packages has to be adapted to where it lies."""


def compiled_program(
    platform: Platform, sources: Sequence[Path], folders: Sequence[Path], report: Report, kind: Sequence[str] = STATIC
) -> bytes:
    architecture = platform.programs_architecture
    apt = payloads.debian_apt()
    packages = [f"{name}:{architecture}" for name in PACKAGES]
    with apt.locked():
        apt.prepare()
        root = unpacked(apt, packages, unpacked_place(f"libc-{architecture}", packages), _as_they_are, report)
    with tempfile.TemporaryDirectory() as name:
        target = Path(name) / "program"
        words = ["clang-19", *TARGETS[architecture], f"--sysroot={root}", *kind, *WORDS, *WARNINGS]
        words += [*(f"-I{one}" for one in folders), "-o", str(target), *map(str, sources)]
        done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            tail = "\n".join(done.stderr.splitlines()[-SHOWN_LINES:])
            raise BulkheadError(f"{sources[0].relative_to(paths.ROOT)} cannot be built for {architecture}:\n{tail}")
        return target.read_bytes()


def packed(programs: Mapping[str, bytes]) -> bytes:
    """As payloads.initramfs_bytes takes further programs: a tar archive, bin/NAME each, or what has a folder in its name there."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for name, content in programs.items():
            item = tarfile.TarInfo(name if "/" in name else f"bin/{name}")
            item.size, item.mode = len(content), EXECUTABLE
            archive.addfile(item, io.BytesIO(content))
    return tar.getvalue()


def channel_programs(platform: Platform, report: Report) -> Path:
    """Those for channels, built once for each architecture and each state of their sources."""
    headers = [one for folder in (*INCLUDED, CONSOLE, TOP) for one in sorted(folder.glob("*.h"))]
    sources = [*(one for each in CHANNEL_PROGRAMS.values() for one in each), *LIBRARY, *headers]
    architecture = platform.programs_architecture
    target = paths.cache() / "linux" / f"programs-{architecture}-{stamp_of([one.read_bytes() for one in sources], (*STATIC, *WORDS))}.tar"
    if not target.exists():
        report(f"building programs for channels for {architecture}")
        built = {name: compiled_program(platform, [*each, *LIBRARY], INCLUDED, report) for name, each in CHANNEL_PROGRAMS.items()}
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        part.write_bytes(packed(built))
        part.replace(target)
    return target


def channels_initramfs(platform: Platform, report: Report) -> Path:
    """The tool's root file system with these programs besides."""
    return payloads.written(platform, "rootfs-channels.cpio.gz", report, channel_programs(platform, report).read_bytes())
