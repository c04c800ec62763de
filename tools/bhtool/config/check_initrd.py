# SPDX-License-Identifier: Apache-2.0
"""Whether Linux will make something of its initrd, and whether its RAM holds what that becomes."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from bhtool.config.payload import PayloadError, Room
from bhtool.config.rootfs.contents import Contents, Unfit, inspect
from bhtool.families.table import FAMILIES

NOT_AN_INITRD, NO_ROOM, DOUBTFUL = "BH-R130", "BH-R131", "BH-W061"
MIB = 1 << 20
OTHER_ROOT = ("root=", "rootfstype=", "rdinit=", "noinitrd", "initrd=")  # words of the command line that change what becomes of it


def doubts(initrd: bytes, name: str, kernel: bytes, arch: str, bootargs: str, room: Room) -> Iterator[str]:
    """What may go wrong; raises PayloadError where it must."""
    try:
        contents = inspect(initrd)
    except Unfit as unfit:
        raise PayloadError(NOT_AN_INITRD, f"`{name}` {unfit}", "initrd") from unfit
    free = room.size - kernel_bytes(kernel, arch) - len(initrd)
    if contents.unpacked > free:
        text = (
            f"{sizes(contents, name, len(initrd))}: what the kernel and the packed archive leave of {mib(room.size)} is {mib(max(0, free))}"
        )
        raise PayloadError(NO_ROOM, text, "initrd")
    if contents.unmeasured:
        yield f"`{name}` {contents.unmeasured}, so whether it fits into {mib(room.size)} is not known"
    if any(word.startswith(OTHER_ROOT) for word in bootargs.split()):
        return
    if contents.unpacked > free // 2:
        yield f"{sizes(contents, name, len(initrd))}, and Linux gives its first root file system half of its memory, here {mib(free // 2)}"
    if contents.is_whole and not contents.has_init:
        yield f"`{name}` has no /init, with which Linux begins"
    if contents.cannot_start:
        yield f"`/init` in `{name}` is not executable, so that Linux does not start it: chmod +x it"


def kernel_bytes(kernel: bytes, arch: str) -> int:
    """What a kernel takes at least."""
    declared = FAMILIES[arch].programs.linux_size
    if declared is None:
        return len(kernel)
    offset, form = declared
    return max(len(kernel), int(struct.unpack_from(form, kernel, offset)[0]) if len(kernel) >= offset + 8 else 0)


def sizes(contents: Contents, name: str, packed: int) -> str:
    least = "" if contents.is_whole else "at least "
    return f"`{name}` has {mib(packed)} and unpacks to {least}{mib(contents.unpacked)}"


def mib(size: int) -> str:
    return f"{-(-size // MIB)} MiB"
