# SPDX-License-Identifier: Apache-2.0
"""The programs this project runs, the Debian packages that bring them, and which are missing or too old here."""

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

Versions = dict[str, str]


@dataclass(frozen=True)
class Need:
    package: str  # Debian's name
    probe: str  # a program, or a file pattern if it has a slash; found means satisfied
    purpose: str
    minimum: tuple[int, ...] = ()  # of `PROGRAM --version`


VENV_NEEDS = (
    Need("python3-venv", "/usr/lib/python3*/ensurepip/_bundled/pip-*.whl|/usr/share/python-wheels/pip-*.whl", "Python environment"),
)
CHECK_NEEDS = (
    Need("clang-19", "clang-19", "compiler, and preprocessor of partition files"),
    Need("device-tree-compiler", "dtc", "configuration", (1, 6)),
    Need("python3-libfdt", "/usr/lib/python3/dist-packages/_libfdt*.so", "configuration"),
    Need("acpica-tools", "iasl", "ACPI tables of x86 sandboxes"),
)
RUN_NEEDS = (
    *CHECK_NEEDS,
    Need("qemu-system-x86", "qemu-system-x86_64", "emulator", (10, 0)),
    Need("qemu-system-arm", "qemu-system-aarch64", "emulator", (10, 0)),
    Need("qemu-system-arm", "qemu-system-arm", "emulator", (10, 0)),
    Need("g++", "g++", "compiler of Bochs"),
    Need("make", "make", "build of Bochs"),
    Need("bochsbios", "/usr/share/bochs/BIOS-bochs-latest", "firmware of Bochs"),
    Need("seabios", "/usr/share/seabios/vgabios-stdvga.bin", "firmware of PCs"),
    Need("grub-pc-bin", "/usr/lib/grub/i386-pc/multiboot2.mod", "bootable images for PCs with BIOS"),
    Need("grub-efi-amd64-bin", "/usr/lib/grub/x86_64-efi/multiboot2.mod", "bootable images for PCs with UEFI"),
    Need("xorriso", "xorriso", "bootable images for PCs"),
    Need("mtools", "mformat", "bootable images"),
    Need("u-boot-tools", "mkimage", "bootable images for ARM boards"),
    Need("u-boot-qemu", "/usr/lib/u-boot/qemu_arm64/u-boot.bin", "boot loader of ARM boards"),
    Need("lld-19", "ld.lld-19", "linker"),
    Need("llvm-19", "llvm-objdump-19", "disassembly, size checks, places of crashes"),
    Need("pkg-config", "pkg-config", "guests made with the SDK"),
    Need("zstd", "zstd", "what an initrd unpacks to"),
    Need("lz4", "lz4", "what an initrd unpacks to"),
    Need("e2fsprogs", "/usr/sbin/mke2fs|/sbin/mke2fs", "discs that Linux starts from"),
    Need("ovmf", "/usr/share/OVMF/OVMF_CODE_4M.fd", "UEFI firmware of PCs"),
)
BUILD_NEEDS = (
    *RUN_NEEDS,
    Need("libclang-rt-19-dev", "/usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.asan-*.a", "sanitizers of the unit tests"),
    Need("clang-format-19", "clang-format-19", "style check"),
    Need("clang-tidy-19", "clang-tidy-19", "static analysis"),
    Need("meson", "meson", "build", (1, 0)),
    Need("ninja-build", "ninja", "build"),
)
DEBUG_NEEDS = (Need("gdb-multiarch", "gdb-multiarch", "debugger"),)
TEST_NEEDS = (
    *DEBUG_NEEDS,
    Need("qemu-system-riscv", "qemu-system-riscv64", "emulator of tests/dry", (10, 0)),
    Need("spin", "spin", "model checker"),
)


@functools.cache
def program_version(program: str) -> tuple[int, ...]:
    """First dotted number that `PROGRAM --version` prints; empty if it prints none."""
    run = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=20, check=False)
    found = re.search(r"(\d+(?:\.\d+)+)", run.stdout + run.stderr)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in version) or "unknown"


def versions_of(*programs: str) -> Versions:
    """By the name of the executable."""
    return {program: dotted(program_version(program)) for program in programs}


def lacking(need: Need) -> str:
    """Why the need is not met, as a clause; empty if it is."""
    if "/" in need.probe:
        matches = any(any(Path("/").glob(pattern.lstrip("/"))) for pattern in need.probe.split("|"))
        return "" if matches else "missing"
    found = shutil.which(need.probe)
    if found is None:
        return "missing"
    if need.minimum:
        version = program_version(found)
        if version < need.minimum:
            return f"version {dotted(version)} is too old, {dotted(need.minimum)} or newer is needed"
    return ""


def unmet(needs: tuple[Need, ...]) -> dict[Need, str]:
    return {need: why for need in needs if (why := lacking(need))}
