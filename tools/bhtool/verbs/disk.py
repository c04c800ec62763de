# SPDX-License-Identifier: Apache-2.0
"""`bulkhead disk`: writes a disc that Linux starts from."""

import re
from pathlib import Path

import click

from bhtool.errors import Status
from bhtool.image import disc
from bhtool.image.payloads import ARCHITECTURES
from bhtool.terminal.screen import Screen
from bhtool.text import MIB, size_text
from bhtool.verbs.options import Output

PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]+")  # deb-control(5)
UNITS = {"M": MIB, "G": 1024 * MIB}


class Size(click.ParamType[int]):
    """Such as 2G or 900M."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d{1,7})([MG])", str(value))
        if not found:
            self.fail(f"{value} is no size, such as 2G or 900M", param, ctx)
        size = int(found[1]) * UNITS[found[2]]
        if not disc.LEAST <= size <= disc.MOST:
            self.fail(f"{value} is not from {size_text(disc.LEAST)} to {size_text(disc.MOST)}", param, ctx)
        return size


class Package(click.ParamType[str]):
    """A name of Debian's."""

    name = "package"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not PACKAGE.fullmatch(str(value)):
            self.fail(f"{value} is no name of a Debian package", param, ctx)
        return str(value)


@click.command()
@click.option("-o", "--output", type=Output(), required=True, help="The file to write.")
@click.option("--arch", "architecture", type=click.Choice(ARCHITECTURES), required=True, help="Debian's word for the processor.")
@click.option("--package", "packages", type=Package(), multiple=True, help="A package besides the smallest Debian, with what it needs.")
@click.option("--size", type=Size(), default=disc.DEFAULT, show_default="1G", metavar="SIZE", help="Of the disc, such as 2G or 900M.")
def disk(output: Path, architecture: str, packages: tuple[str, ...], size: int) -> Status:
    """Write a disc with a Debian root file system.

    It has one partition, and Linux with `root=/dev/nvme0n1p1` in its `bootargs` starts from it. Packages are unpacked here and configured at the first
    boot. They are fetched once; the disc is kept in the cache. Holes in the file take no room.
    """
    screen = Screen()
    with screen.progress("preparing"):
        made = disc.debian(architecture, packages, size, screen.report)
        screen.report(f"writing {output.name}")
        disc.copy(made, output)
    screen.summary(f"{output}: {size_text(size)}, Debian for {architecture}, {size_text(disc.held(output))} of it in use")
    return Status.GOOD
