# SPDX-License-Identifier: Apache-2.0
"""The kinds of file a machine can be started with."""

from bhtool.config.plan import Plan
from bhtool.families.table import FAMILIES
from bhtool.image import loadable
from bhtool.image.fit import disk
from bhtool.image.iso import iso
from bhtool.platforms import Medium, Platform

FORMATS = {
    "elf": "for an emulator's -kernel: monitor and payload in place",
    "iso": "for PCs: GRUB on a disc or USB stick, BIOS and UEFI",
    "fit": "for ARM boards: a disk with a FIT image that U-Boot starts by itself",
}
OF_MEDIUM: dict[Medium, str] = {"kernel": "elf", "cdrom": "iso", "disk": "fit"}


def possible(platform: Platform) -> tuple[str, ...]:
    """Formats that make sense there, the one real machines boot from first."""
    return FAMILIES[platform.arch].images.form, "elf"


def pack(form: str, platform: Platform, monitor: bytes, plan: Plan) -> bytes:
    """The file for a valid plan and one of the possible formats."""
    if form == "iso":
        return iso(monitor, plan)
    return disk(platform, monitor, plan) if form == "fit" else loadable.compose(monitor, plan)


def bootable(platform: Platform, monitor: bytes, plan: Plan) -> bytes:
    """The file as the platform's emulator takes it."""
    return pack(OF_MEDIUM[platform.emulator.medium], platform, monitor, plan)
