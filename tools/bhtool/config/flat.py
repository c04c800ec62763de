# SPDX-License-Identifier: Apache-2.0
"""Flat binaries: bytes without a header, loaded where `load-address` says and entered at the first.

    RAM + 0 ...  image at load-address ...  RAM + min(half, 128 MiB) device tree   then initrd, 2 MiB aligned
The tree lies above the image, as QEMU puts it: such a kernel clears what is after its own bytes before it looks at the tree.
"""

from __future__ import annotations

from bhtool.config.arm_boot import MIB, Layout
from bhtool.config.payload import PayloadError, Piece, Room
from bhtool.config.span import align_up

NOT_A_KERNEL = "BH-R061"
PROPERTY = "load-address"
TREE_MOST, COMMAND_LINE_BYTES = 128 * MIB, 1024
INSTRUCTION = 4


def flat_piece(data: bytes, name: str, load: int) -> Piece:
    if load % INSTRUCTION:
        raise PayloadError(NOT_A_KERNEL, f"`{name}` cannot be entered at {load:#x}, where no instruction begins", PROPERTY)
    return Piece(name, load, data)


def flat_layout(kernel: bytes, room: Room, load: int) -> Layout:
    """By Linux' boot protocol on ARM: the tree's address is the argument."""
    tree = max(align_up(load + len(kernel), 2 * MIB), room.gpa + min(room.size // 2, TREE_MOST) & ~(2 * MIB - 1))
    return Layout(load, len(kernel), tree, initrd=tree + 2 * MIB, command_line_bytes=COMMAND_LINE_BYTES)
