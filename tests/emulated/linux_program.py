# SPDX-License-Identifier: Apache-2.0
"""The tool's root file system for Linux with a test's own programs."""

from collections.abc import Mapping

from bhtool.image import payloads
from bhtool.image.linux_programs import packed
from bhtool.platforms import Platform


def root_file_system(platform: Platform, programs: Mapping[str, bytes]) -> bytes:
    """The tool's, with programs in /bin besides."""
    busybox = payloads.cached("busybox-static", platform.programs_architecture, "./bin/busybox", "", lambda _: None)
    return payloads.initramfs_bytes(busybox.read_bytes(), packed(programs))
