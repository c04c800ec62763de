# SPDX-License-Identifier: Apache-2.0
"""Where Linux on ARM and what it boots with lie, and where it is entered: at the kernel's first byte in both boot protocols.

aarch64  Documentation/arch/arm64/booting.rst   RAM + 0 device tree   RAM + 2 MiB + text_offset Image   then initrd, 2 MiB aligned
armv7    Documentation/arch/arm/booting.rst     RAM + 0 decompressed  RAM + 32 MiB zImage   then device tree, initrd, 2 MiB aligned
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from bhtool.config.kinds import looks_like
from bhtool.config.payload import PayloadError, Room
from bhtool.config.span import align_up

NOT_A_KERNEL, TOO_BIG = "BH-R061", "BH-R065"
MIB = 1 << 20
# arm64: struct in the first 64 bytes
TEXT_OFFSET, IMAGE_SIZE, IMAGE_MAGIC = 8, 16, 56
# arm: arch/arm/boot/compressed/head.S; it unpacks to the start of RAM and has its heap after itself
ZIMAGE_MAGIC, ZIMAGE_OFFSET, HEAP_BYTES = 0x24, 32 * MIB, MIB
ZIMAGE_MARK, ZIMAGE_TABLE = 0x34, 0x38  # vmlinux.lds.S there: sizes after the word KLSZ, the length of the kernel, .bss, TEXT_OFFSET


@dataclass(frozen=True)
class Layout:
    """Guest-physical addresses, and what the kernel occupies before it knows its memory."""

    kernel: int
    kernel_bytes: int
    tree: int
    initrd: int
    command_line_bytes: int  # COMMAND_LINE_SIZE in the architecture's asm/setup.h


def _image(kernel: bytes, name: str, room: Room) -> Layout:
    if len(kernel) < 64 or kernel[IMAGE_MAGIC : IMAGE_MAGIC + 4] != b"ARM\x64":
        raise PayloadError(
            NOT_A_KERNEL,
            f"`{name}` is not an uncompressed arm64 Linux kernel (Image): `ARM\\x64` is missing at byte 56, and {looks_like(kernel)}",
        )
    text_offset, image_size = struct.unpack_from("<QQ", kernel, TEXT_OFFSET)
    start, size = room.gpa + 2 * MIB + text_offset, max(image_size, len(kernel))
    return Layout(start, size, tree=room.gpa, initrd=align_up(start + size, 2 * MIB), command_line_bytes=2048)


def _unpacked(kernel: bytes) -> int:
    """Where a zImage ends once it is unpacked, from the start of RAM, variables included; 0: an old one, which does not say."""
    table = struct.unpack_from("<I", kernel, ZIMAGE_TABLE)[0] if kernel[ZIMAGE_MARK : ZIMAGE_MARK + 4] == b"EEEE" else 0
    if not 0 < table <= len(kernel) - 20 or kernel[table + 4 : table + 8] != b"KLSZ":
        return 0
    length_at, bss, text_offset = struct.unpack_from("<III", kernel, table + 8)
    return int(text_offset + struct.unpack_from("<I", kernel, length_at)[0] + bss) if length_at <= len(kernel) - 4 else 0


def _zimage(kernel: bytes, name: str, room: Room) -> Layout:
    if len(kernel) < 64 or kernel[ZIMAGE_MAGIC : ZIMAGE_MAGIC + 4] != b"\x18\x28\x6f\x01":
        raise PayloadError(NOT_A_KERNEL, f"`{name}` is not a compressed 32-bit ARM Linux kernel (zImage): {looks_like(kernel)}")
    if (unpacked := _unpacked(kernel)) > ZIMAGE_OFFSET:
        text = f"`{name}` unpacks to {unpacked >> 20} MiB, over itself, as it lies {ZIMAGE_OFFSET >> 20} MiB above the start of RAM"
        raise PayloadError(TOO_BIG, text)
    start, size = room.gpa + ZIMAGE_OFFSET, len(kernel) + HEAP_BYTES
    tree = align_up(start + size, 2 * MIB)
    return Layout(start, size, tree, initrd=tree + 2 * MIB, command_line_bytes=1024)


LAYOUTS: dict[str, Callable[[bytes, str, Room], Layout]] = {"Image": _image, "zImage": _zimage}  # by what is entered
