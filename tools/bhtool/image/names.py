# SPDX-License-Identifier: Apache-2.0
"""What the names in a partition file (`image`, `initrd`) stand for on a platform."""

from dataclasses import dataclass
from pathlib import Path

from bhtool import paths
from bhtool.config.payload import NoFile, NotYet
from bhtool.image import linux_module, linux_programs, payloads
from bhtool.image.build import PROBE, products_of
from bhtool.image.payloads import Report
from bhtool.platforms import Platform
from bhtool.text import did_you_mean

KERNEL, MODULES, OWN_MODULE = "vmlinuz", "vmlinuz.modules", "vmlinuz.bulkhead.ko"
DEBIAN = {
    KERNEL: payloads.kernel,
    "rootfs.cpio.gz": payloads.initramfs,
    "rootfs-can.cpio.gz": payloads.can_initramfs,
    "rootfs-channels.cpio.gz": linux_programs.channels_initramfs,
    MODULES: payloads.modules,
    OWN_MODULE: linux_module.module,
}
OF_KERNEL = (KERNEL, MODULES, OWN_MODULE)  # what a `kernel-package` brings, or what is made for it


def split(name: str) -> tuple[str, str]:
    """(package, name) of what a `kernel-package` is to bring, such as linux-image-amd64/vmlinuz; the package is empty for every other name."""
    package, _, file = name.rpartition("/")
    return (package, file) if file in OF_KERNEL and package.startswith("linux-image-") else ("", name)


def is_provided(partition: Path, name: str) -> bool:
    """Whether a name stands for the tool's own software rather than for a file beside the partition file."""
    return name in DEBIAN and not (partition.parent / name).is_file()


@dataclass(frozen=True)
class Resolver:
    """A file or folder beside the partition file wins, then Debian's kernel and our initramfs, then what the build made.

    PACKAGE/vmlinuz is the kernel of a Debian package, whatever lies beside the partition file.

    Raises NotYet for what the tool could make or fetch but may not (`provides`), FileNotFoundError for what nobody knows.
    """

    platform: Platform
    partition: Path
    report: Report
    provides: bool = True

    def __call__(self, name: str) -> Path:
        package, file = split(name)
        if package:
            return self._packaged(package, file)
        beside = self.partition.parent / name
        if beside.exists():
            return beside
        if name == MODULES and (self.partition.parent / KERNEL).exists():  # somebody else's kernel
            raise FileNotFoundError(name)
        if name in DEBIAN and self.provides:
            return DEBIAN[name](self.platform, self.report)
        for folder in self._folders:
            if (folder / name).is_file():
                return folder / name
        if name in self._provided:
            raise NotYet(name)
        raise NoFile(name, did_you_mean(name, self._known()))

    def _packaged(self, package: str, file: str) -> Path:
        if not self.provides:
            raise NotYet(file)
        provide = {KERNEL: payloads.kernel, MODULES: payloads.modules, OWN_MODULE: linux_module.module}[file]
        return provide(self.platform, self.report, package)

    @property
    def _provided(self) -> set[str]:
        """Names that the tool makes or fetches a file for. The probe is for tests: a clone builds it, a package has none."""
        made = products_of(self.platform) if paths.IS_PACKAGE else (*products_of(self.platform), PROBE)
        return {*DEBIAN, *(Path(name).name for name in made)}

    @property
    def _folders(self) -> tuple[Path, ...]:
        return self.platform.build, self.platform.build / "kernel", self.platform.build / "tests" / "guests"

    def _known(self) -> list[str]:
        """Names that there are, those beside the partition file first."""
        built = [one for folder in self._folders if folder.is_dir() for one in folder.glob("*.elf")]
        beside = [one for one in self.partition.parent.iterdir() if one.is_file() and one != self.partition]
        return [one.name for one in beside] + sorted(self._provided) + [one.name for one in built]
