# SPDX-License-Identifier: Apache-2.0
"""A disk that boots on ARM boards through U-Boot: one FIT image with monitor and payload, and the script that starts it.

    disk:  boot.scr  bulkhead.itb           FIT:  monitor | fdt | payload 0 | payload 1 | ...
U-Boot reads the FIT to where the script says, checks each part's hash, copies each to where it is used, and enters the monitor
as if it were Linux, with a device tree that nobody reads. U-Boot manual, "Flat Image Tree (FIT)", "Distro Boot".
"""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from bhtool import VERSION
from bhtool.config.pieces import Piece, pieces_of
from bhtool.config.place import Free
from bhtool.config.plan import Plan
from bhtool.config.span import Span
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.image import loadable
from bhtool.image.tools import put, run_tool
from bhtool.platforms import Platform

MIB = 1 << 20
FIT, SCRIPT = "bulkhead.itb", "boot.scr"
U_BOOT_BYTES = 128 * MIB  # the end of RAM: U-Boot itself, its heap and stack
FDT_BYTES = 64 << 10  # below the monitor, where boards keep RAM for it
TEXT_BYTES = 160  # of a description
DISK_BYTES = 4 * MIB  # besides the FIT
ALIGNMENT = 2 * MIB
TEMPLATE = Path(__file__).with_name("image.its.j2")
EMPTY_TREE = "/dts-v1/; / { };"


@dataclass(frozen=True)
class Part:
    """One image in the FIT: `kind` as U-Boot calls it, `address` where it is used."""

    name: str
    text: str  # what it is, for who lists the image
    kind: str
    address: int
    data: bytes = field(repr=False)

    @property
    def span(self) -> Span:
        return Span(self.address, len(self.data))


def disk(platform: Platform, monitor: bytes, plan: Plan) -> bytes:
    """The disk for a valid plan."""
    start, flat = loadable.flatten(monitor, plan)
    payload = [
        Part(f"payload-{n}", contents(plan, piece), "loadable", piece.start, bytes(piece.data)) for n, piece in enumerate(pieces_of(plan))
    ]
    arch = FAMILIES[platform.arch].images.uboot
    with tempfile.TemporaryDirectory(prefix="bulkhead-") as name:
        folder = Path(name)
        run_tool("dtc", "-O", "dtb", "-o", "fdt", put(folder, "fdt.dts", EMPTY_TREE), folder=folder)
        fdt = Part("fdt", "empty device tree, which nobody reads", "flat_dt", start - FDT_BYTES, (folder / "fdt").read_bytes())
        title = f"Bulkhead {VERSION}: {plan.file.name} for {platform.name}"
        parts = [Part("monitor", "monitors and partition table", "kernel", start, flat), fdt, *payload]
        fit = make_fit(arch, quotable(title), parts, folder)
        taken = [Span(platform.ram_base, start + len(flat) - platform.ram_base), *(part.span for part in payload)]
        return make_disk(fit, script(loader_place(platform, taken, len(fit)), platform.arch), arch, folder)


def contents(plan: Plan, piece: Piece) -> str:
    """What of whom lies there."""
    inside = [segment.name for segment in plan.segments if piece.start <= segment.hpa < piece.end]
    return quotable(", ".join(inside))


def quotable(text: str) -> str:
    """As a string of a device tree's source."""
    plain = "".join(one for one in text if one.isascii() and one.isprintable() and one not in '"\\')
    return plain if len(plain) <= TEXT_BYTES else plain[: TEXT_BYTES - 4] + " ..."


def make_fit(arch: str, title: str, parts: list[Part], folder: Path) -> bytes:
    for part in parts:
        put(folder, part.name, part.data)
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    loadables = [part for part in parts if part.kind == "loadable"]
    source = put(folder, "fit.its", template.render(arch=arch, title=title, parts=parts, loadables=loadables))
    run_tool("mkimage", "-f", source, FIT, folder=folder)
    return (folder / FIT).read_bytes()


def loader_place(platform: Platform, taken: list[Span], size: int) -> int:
    """Where the FIT may lie while its parts are copied out of it. Raises if payload is in U-Boot's own way."""
    end = platform.ram_base + platform.ram_size
    own = Span(end - U_BOOT_BYTES, U_BOOT_BYTES)
    for span in taken:
        if span.overlaps(own):
            raise BulkheadError(f"payload at {span} lies where U-Boot runs, {own}: pin that sandbox's memory lower")
    place = Free([Span(platform.ram_base, platform.ram_size)], [*taken, own]).take(size, ALIGNMENT)
    if place is None:
        raise BulkheadError(f"no {size >> 20} MiB of RAM are free of payload for U-Boot to read the image to: pin memory closer together")
    return place


def script(address: int, arch: str) -> str:
    """U-Boot's command line. What went wrong it has said by then; the machine ends, so that nothing else is booted instead."""
    high = FAMILIES[arch].images.uboot_end  # device trees stay where they are
    load = f"load ${{devtype}} ${{devnum}}:${{distro_bootpart}} {address:#x} {FIT}"
    return (
        f"setenv fdt_high {high:#x}\n"
        f"if {load}; then bootm {address:#x}#bulkhead; fi\n"
        'echo "bulkhead: cannot start: the boot loader refuses the image; build or copy it again"\n'
        "poweroff\n"
    )


def make_disk(fit: bytes, commands: str, arch: str, folder: Path) -> bytes:
    """A FAT file system without partitions."""
    put(folder, FIT, fit)
    source = put(folder, "boot.txt", commands)
    run_tool("mkimage", "-A", arch, "-T", "script", "-C", "none", "-d", source, SCRIPT, folder=folder)
    with (folder / "disk").open("wb") as file:
        file.truncate(len(fit) + DISK_BYTES)
    run_tool("mformat", "-i", "disk", "-N", "0", "::", folder=folder)
    run_tool("mcopy", "-i", "disk", SCRIPT, FIT, "::", folder=folder)
    return (folder / "disk").read_bytes()
