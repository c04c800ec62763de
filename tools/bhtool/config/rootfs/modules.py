# SPDX-License-Identifier: Apache-2.0
"""Kernel modules by name, with those they need: out of the package that a kernel came in, as an archive that goes after an initramfs.

A store is a zip of a kernel's modules with an index (`index_of`), made once for each package. What a module is called, needs and stands
for is in its .modinfo section: Linux, include/linux/module.h, MODULE_INFO.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bhtool import elf as files
from bhtool.config.bounded import Unbounded
from bhtool.config.rootfs.cpio import Archive

INDEX, BUILT_IN = "index.json", "modules.builtin"
LIST = "etc/modules-load.d/bulkhead.conf"  # modules-load.d(5); the tool's own init reads it, too
MOST = 64  # of a sandbox, named and needed
SUFFIX = ".ko"
OWN = "bulkhead"  # the module for channels, built by the tool for each kernel
OWN_FOLDER = "updates"  # where modules lie that did not come with the kernel: depmod.d(5)
BESIDE = {
    "kvaser_pci": ["sja1000_isa"]
}  # what takes a module's place where its probe fails, and is loaded with parameters: image/can_memory.sh
GENERIC = "_generic"  # of modules with one alias that which runs on every processor, where others need instructions that it may not have


# What a zip or an index raises that is none, cut short or of another tool's.
BAD_STORE = (zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, AttributeError, RuntimeError, EOFError, OSError)


class NoModules(Unbounded):
    """The end of a sentence that begins with the sandbox's name."""


@dataclass(frozen=True)
class Module:
    path: str  # below /lib/modules/VERSION
    needs: list[str]
    aliases: list[str]


@dataclass(frozen=True)
class Index:
    version: str  # as `uname -r` says it
    modules: dict[str, Module]
    built_in: list[str]

    @property
    def known(self) -> list[str]:
        return [*self.modules, *self.built_in]

    def find(self, name: str) -> str | None:
        """The module that a name or an alias stands for; "" if the kernel has it built in; None: there is none."""
        plain = plain_name(name)
        if plain in self.modules:
            return plain
        if plain in self.built_in:
            return ""
        found = [one for one, module in self.modules.items() if name in module.aliases]
        return next((one for one in found if one.endswith(GENERIC)), found[0] if found else None)

    def closure(self, names: Iterable[str]) -> list[str]:
        """The modules and what they need, what is needed first."""
        ordered: list[str] = []
        waiting = [(name, False) for name in reversed(list(names))]
        while waiting:
            name, expanded = waiting.pop()
            if name in ordered or name not in self.modules:
                continue
            if expanded:
                ordered.append(name)
                continue
            waiting.append((name, True))
            waiting += [(one, False) for one in reversed(self.modules[name].needs) if (one, True) not in waiting]
        return ordered


def plain_name(name: str) -> str:
    """Modules are the same by dashes and underscores."""
    return name.removesuffix(SUFFIX).replace("-", "_")


def information(module: bytes) -> dict[str, list[str]]:
    """The fields of .modinfo; of no module, or a damaged one, none."""
    form = files.form_of(module)
    try:
        return _information(form, module) if form else {}
    except (struct.error, OverflowError):  # a table of sections outside the file
        return {}


def _information(form: files.Form, module: bytes) -> dict[str, list[str]]:
    header = files.read_header(form, module)
    word = "I" if form.section_bytes == 40 else "Q"
    section = struct.Struct(f"<II{word}{word}{word}{word}")  # name, type, flags, address, offset, size

    def at(number: int) -> tuple[int, ...]:
        return section.unpack_from(module, header.section_offset + number * header.section_size)

    names = at(header.section_names)[4]
    found: dict[str, list[str]] = {}
    for number in range(header.section_count):
        name, _, _, _, offset, size = at(number)
        if module[names + name : names + name + 9] == b".modinfo\0":
            for text in module[offset : offset + size].decode("ascii", "replace").split("\0"):
                key, _, value = text.partition("=")
                found.setdefault(key, []).append(value)
    return found


def described(path: str, module: bytes) -> Module:
    told = information(module)
    needs = [plain_name(one) for line in told.get("depends", []) for one in line.split(",") if one]
    needs += [one for line in told.get("softdep", []) for one in line.partition("pre:")[2].partition("post:")[0].split()]  # modprobe.d(5)
    return Module(path, needs, [one for one in told.get("alias", []) if "*" not in one])


def write_store(store: Path, members: Iterator[tuple[str, bytes]]) -> None:
    """Of (VERSION/path as below /lib/modules, content), whole or not at all."""
    part = store.with_suffix(".part")
    modules: dict[str, Module] = {}
    built_in: list[str] = []
    version = ""
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for whole, content in members:
            version, _, path = whole.partition("/")
            if path.endswith(SUFFIX):
                modules[plain_name(Path(path).name)] = described(path, content)
                archive.writestr(path, content)
            elif path == BUILT_IN:
                built_in = sorted(plain_name(Path(line).name) for line in content.decode().split())
        known = Index(version, modules, built_in)
        modules = {name: Module(one.path, _found(known, one.needs), one.aliases) for name, one in modules.items()}
        index = {"version": version, "modules": {name: vars(one) for name, one in sorted(modules.items())}, "built_in": built_in}
        archive.writestr(INDEX, json.dumps(index))
    part.replace(store)


def _found(index: Index, names: list[str]) -> list[str]:
    """The modules that the names stand for, without what is built in or not there."""
    return list(dict.fromkeys(found for name in names if (found := index.find(name))))


def index_of(store: Path) -> Index:
    with zipfile.ZipFile(store) as archive:
        return _index(archive)


def _index(archive: zipfile.ZipFile) -> Index:
    tree = json.loads(archive.read(INDEX))
    return Index(tree["version"], {name: Module(**one) for name, one in tree["modules"].items()}, tree["built_in"])


def with_own(index: Index, own: bytes) -> Index:
    """And the module that the tool has built for that kernel; nothing: it has built none."""
    if not own:
        return index
    path = f"{OWN_FOLDER}/{OWN}{SUFFIX}"
    return Index(index.version, {**index.modules, OWN: described(path, own)}, index.built_in)


def modules_archive(store: Path, names: list[str], there: set[str], own: bytes = b"") -> Archive:
    """
    The modules and what they need below /lib/modules/VERSION, a modules.dep for modprobe, and a list of what to load. there: top names of
    the root file system it is put after, which stay what they are. own: OWN, if it is named. Requires: every name is known to the index.
    """
    archive = Archive()
    with zipfile.ZipFile(store) as contents:
        index = with_own(_index(contents), own)
        wanted = [found for name in names if (found := index.find(name))]
        beside = [found for name in wanted for one in BESIDE.get(name, ()) if (found := index.find(one))]
        chosen = index.closure([*wanted, *beside])
        if len(chosen) > MOST:
            raise NoModules(f"would have {len(chosen)} modules, {MOST} at most can be given")
        base = f"lib/modules/{index.version}"
        paths = [f"{base}/{index.modules[name].path}" for name in chosen]
        for folder in _folders([*paths, LIST]):
            if folder not in there:
                archive.directory(folder)
        for name, path in zip(chosen, paths, strict=True):
            archive.file(path, own if own and name == OWN else contents.read(index.modules[name].path))
        archive.file(f"{base}/modules.dep", _dependencies(index, chosen).encode())
        archive.file(LIST, "".join(f"{name}\n" for name in wanted).encode())
    return archive


def _folders(paths: list[str]) -> list[str]:
    """All above the paths, the upper ones first."""
    return sorted({str(one) for path in paths for one in Path(path).parents} - {"."}, key=lambda one: (one.count("/"), one))


def _dependencies(index: Index, chosen: list[str]) -> str:
    """modules.dep(5): each module and, nearest first, all it needs."""
    lines = []
    for name in chosen:
        needed = reversed([one for one in index.closure([name]) if one != name])
        lines.append(f"{index.modules[name].path}: {' '.join(index.modules[one].path for one in needed)}".rstrip())
    return "\n".join(lines) + "\n"
