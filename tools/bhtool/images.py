# SPDX-License-Identifier: Apache-2.0
"""What the names in a partition file (`image`, `initrd`) stand for on a platform."""

from dataclasses import dataclass
from pathlib import Path

from bhtool import payloads
from bhtool.build import PRODUCTS
from bhtool.config.payload import NotYet
from bhtool.payloads import Report
from bhtool.platforms import Platform

DEBIAN = {"vmlinuz": payloads.kernel, "rootfs.cpio.gz": payloads.initramfs}
PROVIDED = {*DEBIAN, *(Path(name).name for name in PRODUCTS)}


@dataclass(frozen=True)
class Resolver:
    """A file beside the partition file wins, then Debian's kernel and our initramfs, then what the build made.

    Raises NotYet for what the tool could make or fetch but may not (`provides`), FileNotFoundError for what nobody knows.
    """

    platform: Platform
    partition: Path
    report: Report
    provides: bool = True

    def __call__(self, name: str) -> Path:
        beside = self.partition.parent / name
        if beside.is_file():
            return beside
        if name in DEBIAN and self.provides:
            return DEBIAN[name](self.platform, self.report)
        for built in (self.platform.build / name, self.platform.build / "kernel" / name, self.platform.build / "tests" / "guests" / name):
            if built.is_file():
                return built
        raise (NotYet if name in PROVIDED else FileNotFoundError)(name)
