# SPDX-License-Identifier: Apache-2.0
"""What guests that are built elsewhere need: headers, a library for each processor, pkg-config files, an example, the entry contract.

DIR/include/bulkhead/{bulkhead.h, abi/*.h}   lib/ARCH/libbulkhead.a   lib/pkgconfig/bulkhead-ARCH.pc   example/   guest.md   LICENSE
For programs in Linux: linux/module (DKMS takes it as it is), linux/lib, linux/python, linux/{include, console, top, samples}
zephyr/: an application for Zephyr that answers by channels
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from jinja2 import Template

from bhtool import VERSION, paths
from bhtool.errors import BulkheadError, Status
from bhtool.families.table import FAMILIES
from bhtool.image import linux_module
from bhtool.image.build import build_platform, is_built
from bhtool.image.payloads import Report
from bhtool.platforms import Platform, every
from bhtool.text import counted

SOURCES = paths.ROOT / "tools" / "sdk"
LIBRARY = "libbulkhead.a"
ARCHITECTURES = tuple(name for name, family in FAMILIES.items() if family.programs.sandbox_kernel)
MARK = Path("include") / "bulkhead" / "bulkhead.h"
LINUX_SUFFIXES = ("", ".c", ".h", ".py", ".toml", ".typed")  # "": a Makefile
HEADERS = ("guest.h", "channel.h", "channel_bytes.h", "channel_end.h", "channel_inline.h", "channel_wait.h", "telemetry.h")  # of abi/


def refuse_foreign(folder: Path) -> None:
    """An SDK may be written over; a folder with anything else in it may not."""
    if folder.exists() and not folder.is_dir():
        raise BulkheadError(f"{folder} is a file; name a folder", Status.USAGE)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise BulkheadError(f"{folder} holds other things; name a folder that is new, empty or an SDK", Status.USAGE)
    refuse_links(folder, names())


def refuse_links(folder: Path, names: Iterable[Path | str]) -> None:
    """What is to be written in the folder is written in the folder: nothing on the way to it may lead elsewhere."""
    for one in (folder / part for name in names for part in (Path(name), *Path(name).parents) if part != Path()):
        if one.is_symlink():
            raise BulkheadError(
                f"{one} is a symbolic link, and may lead out of the folder; remove it, or name another folder", Status.USAGE
            )


def names() -> list[Path]:
    """Of everything that is written."""
    libraries = [Path("lib") / arch / LIBRARY for arch in ARCHITECTURES]
    described = [Path("lib") / "pkgconfig" / f"bulkhead-{arch}.pc" for arch in ARCHITECTURES]
    examples = [Path("example") / one.name for one in (SOURCES / "example").iterdir()]
    headers = [MARK.parent / "abi" / name for name in HEADERS]
    others = [Path(name) for name in linux_files() | zephyr_files()]
    return [MARK, *headers, *libraries, *described, *examples, *others, Path("guest.md"), Path("LICENSE")]


def linux_files() -> dict[str, bytes]:
    """By their names in the folder: the module whole, all else as it is."""
    folders = [one for one in linux_module.SOURCES.iterdir() if one.is_dir() and one.name != "module"]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file() and file.suffix in LINUX_SUFFIXES]
    found = {f"linux/{file.relative_to(linux_module.SOURCES)}": file.read_bytes() for file in sorted(files)}
    found |= {f"linux/lib/abi/{name}": (paths.ABI / name).read_bytes() for name in HEADERS}
    return found | {f"linux/module/{name}": content for name, content in linux_module.source_files().items()}


def zephyr_files() -> dict[str, bytes]:
    """By their names in the folder."""
    return {f"{file.relative_to(SOURCES)}": file.read_bytes() for file in sorted((SOURCES / "zephyr").rglob("*")) if file.is_file()}


def platform_of(arch: str) -> Platform:
    """Any that has this processor, as the library knows no board; rather one that is built."""
    return min((one for one in every() if one.arch == arch), key=lambda one: not (one.build / "build.ninja").exists())


def announce(report: Report) -> None:
    """How long the first time takes, before it begins."""
    if unbuilt := [arch for arch in ARCHITECTURES if not is_built(platform_of(arch))]:
        report(f"building the SDK for {counted(len(unbuilt), 'kind of core', 'kinds of core')}, once, about a minute")


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def package(arch: str) -> str:
    """The pkg-config file."""
    template = Template((SOURCES / "package.pc.j2").read_text(encoding="utf-8"), keep_trailing_newline=True)
    target = FAMILIES[arch].programs
    return str(template.render(arch=arch, version=VERSION, compile=target.sdk, address=f"{target.sdk_address:#x}"))


def write_sdk(folder: Path, report: Report) -> None:
    """Builds what is not built and writes everything; other files in the folder stay."""
    refuse_foreign(folder)
    libraries = {arch: build_platform(platform_of(arch), report).parent / "tools" / "sdk" / LIBRARY for arch in ARCHITECTURES}
    copy(SOURCES / "bulkhead.h", folder / MARK)
    for name in HEADERS:
        copy(paths.ABI / name, folder / MARK.parent / "abi" / name)
    for arch, library in libraries.items():
        copy(library, folder / "lib" / arch / library.name)
        described = folder / "lib" / "pkgconfig" / f"bulkhead-{arch}.pc"
        described.parent.mkdir(parents=True, exist_ok=True)
        described.write_text(package(arch), encoding="utf-8")
    for example in (SOURCES / "example").iterdir():
        copy(example, folder / "example" / example.name)
    for name, content in (linux_files() | zephyr_files()).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    copy(paths.ROOT / "docs" / "guest.md", folder / "guest.md")
    copy(paths.ROOT / "LICENSE", folder / "LICENSE")
