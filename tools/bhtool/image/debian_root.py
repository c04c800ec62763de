# SPDX-License-Identifier: Apache-2.0
"""A Debian root file system out of packages, without root's rights and without running anything of them here.

Packages are unpacked as dpkg would unpack them, and dpkg's database says so ("install ok unpacked"). What their scripts do, they do on the machine that the
root file system is for, at its first boot: disc_first_boot.sh. Further packages lie on the disc until then, because their scripts may have to run before they
are unpacked.
"""

import hashlib
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from bhtool.errors import BulkheadError
from bhtool.image import debs
from bhtool.image.debs import Deb
from bhtool.image.ext4 import Entry
from bhtool.provision.progress import Report, Steps

MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")  # links into /usr, as Debian has them since its release 12
LEFT_OUT = (
    *(f"usr/share/{name}/" for name in ("man", "info", "locale", "lintian", "bug", "doc-base")),
    "usr/share/doc/",  # but for who owns the rights
)
COPYRIGHT = "copyright"
DPKG = "var/lib/dpkg"
FIRST_BOOT = "var/lib/bulkhead/first-boot"  # is there until packages are configured
FURTHER = "var/lib/bulkhead/packages"
SCRIPTS = Path(__file__).parent
FOLDERS = (
    "dev",
    "proc",
    "sys",
    "run",
    "tmp",
    "mnt",
    "root",
    "etc/apt",
    "usr/local/sbin",
    "usr/lib/bulkhead",
    f"{DPKG}/triggers",
    f"{DPKG}/updates",
    FURTHER,
)
OWN = {  # scripts, disc_*.sh
    "init": "usr/sbin/init",
    "first_boot": "usr/lib/bulkhead/first-boot",
    "dhcp": "usr/lib/bulkhead/dhcp",
    "fetch": "usr/local/bin/fetch",
}
SOURCES = "deb http://deb.debian.org/debian {suite} main\ndeb http://deb.debian.org/debian-security {suite}-security main\n"
EXCLUDED = "".join(f"path-exclude=/{name}*\n" for name in LEFT_OUT) + f"path-include=/usr/share/doc/*/{COPYRIGHT}\n"


@dataclass
class Root:
    """What is to be on the disc. Contents of files lie in `spool` until they are."""

    spool: Path
    entries: dict[str, Entry] = field(default_factory=dict)
    time: int = 0  # of the newest file of a package
    _held: int = 0  # files in the spool

    def folder(self, path: str, mode: int = 0o755) -> None:
        for above in reversed(PurePosixPath(path).parents[:-1]):
            self.entries.setdefault(str(above), Entry(str(above), "directory"))
        self.entries[path] = Entry(path, "directory", mode)

    def link(self, path: str, target: str) -> None:
        self._add(Entry(path, "link", target=target))

    def file(self, path: str, content: bytes, mode: int = 0o644, owner: int = 0, group: int = 0, time: int = 0) -> None:
        held = self.spool / str(self._held)
        held.write_bytes(content)
        self._held += 1
        self._add(Entry(path, "file", mode, owner, group, time, held))

    def _add(self, entry: Entry) -> None:
        above = str(PurePosixPath(entry.path).parent)
        if above != "." and above not in self.entries:
            self.folder(above)
        self.entries[entry.path] = entry

    def listed(self) -> list[Entry]:
        """What no package brings has the time of the newest that does."""
        return [one if one.time else replace(one, time=self.time) for one in self.entries.values()]


def build(spool: Path, packages: list[Path], further: list[Path], suite: str, report: Report) -> Root:
    root = Root(spool)
    for name in MERGED[:3]:
        root.folder(f"usr/{name}")
        root.link(name, f"usr/{name}")
    steps = Steps("unpacking packages", report, sum(one.stat().st_size for one in packages))
    unpacked = [debs.read(one) for one in packages]
    listings = {}
    for number, deb in enumerate(unpacked):
        listings[deb.name] = unpack(root, deb)
        steps((number + 1) / len(unpacked))
    write_database(root, unpacked, listings)
    write_own(root, further, suite)
    return root


def placed(root: Root, path: str) -> str:
    """Where a package's path lies in a file system whose /bin, /lib and so on are links."""
    top, _, rest = path.partition("/")
    if top not in MERGED:
        return path
    if top not in root.entries:
        root.folder(f"usr/{top}")
        root.link(top, f"usr/{top}")
    return f"usr/{top}/{rest}" if rest else f"usr/{top}"


def is_left_out(path: str) -> bool:
    return f"{path}/".startswith(LEFT_OUT) and not path.endswith(f"/{COPYRIGHT}") and f"{path}/" not in LEFT_OUT


def unpack(root: Root, deb: Deb) -> list[str]:
    """Puts what the package installs into the root; its paths as dpkg lists them."""
    paths = ["/."]
    for item, content in debs.contents(deb):
        path = str(PurePosixPath(item.name))  # without ./ at its start
        if path == ".":
            continue
        if path.startswith("/") or ".." in path.split("/"):
            raise BulkheadError(f"{deb.file.name} holds {item.name}, which lies outside a root file system")
        paths.append(f"/{path}")
        if is_left_out(path):
            continue
        where = placed(root, path)
        root.time = max(root.time, int(item.mtime))
        if item.isdir():
            if where not in root.entries or root.entries[where].mode == 0o755:
                root.folder(where, stat.S_IMODE(item.mode))
                root.entries[where] = replace(root.entries[where], owner=item.uid, group=item.gid, time=int(item.mtime))
        elif item.issym():
            root.link(where, item.linkname)
        elif item.islnk():
            _copy(root, where, placed(root, item.linkname.removeprefix("./")), deb)
        elif item.isfile():
            root.file(where, content, stat.S_IMODE(item.mode), item.uid, item.gid, int(item.mtime))
        else:
            raise BulkheadError(f"{deb.file.name} holds /{path}, which is no file, directory or link")
    return paths


def _copy(root: Root, where: str, of: str, deb: Deb) -> None:
    """A hard link, as a file of its own: debugfs(8) does not count links."""
    if of not in root.entries:
        raise BulkheadError(f"{deb.file.name} links /{where} to /{of}, which it does not hold")
    root.entries[where] = replace(root.entries[of], path=where)


def info_name(deb: Deb) -> str:
    """Of a package of which there may be one for each architecture, dpkg's files say for which it is."""
    return f"{deb.name}:{deb.fields['Architecture']}" if deb.fields.get("Multi-Arch") == "same" else deb.name


def write_database(root: Root, packages: Iterable[Deb], listings: dict[str, list[str]]) -> None:
    """/var/lib/dpkg, as dpkg leaves it after unpacking (dpkg-query(1), deb-triggers(5))."""
    stanzas: list[str] = []
    files: list[str] = []
    named: dict[str, str] = {}
    for deb in sorted(packages, key=lambda one: one.name):
        base = f"{DPKG}/info/{info_name(deb)}"
        root.file(f"{base}.list", "".join(f"{path}\n" for path in listings[deb.name]).encode())
        for name, content in sorted(deb.control.items()):
            if name != "control":
                is_script = name in ("preinst", "postinst", "prerm", "postrm", "config")
                root.file(f"{base}.{name}", content, 0o755 if is_script else 0o644)
        stanzas.append(stanza(root, deb))
        for trigger, how in interests(deb):
            line = f"{deb.name}{how}\n"
            if trigger.startswith("/"):
                files.append(f"{trigger} {line}")
            else:
                named[trigger] = named.get(trigger, "") + line
    root.file(f"{DPKG}/info/format", b"1\n")
    root.file(f"{DPKG}/status", "\n".join(stanzas).encode())
    root.file(f"{DPKG}/available", b"")
    root.file(f"{DPKG}/triggers/File", "".join(files).encode())
    for trigger, lines in named.items():
        root.file(f"{DPKG}/triggers/{trigger}", lines.encode())


def stanza(root: Root, deb: Deb) -> str:
    """Of /var/lib/dpkg/status."""
    lines = [f"Package: {deb.name}", "Status: install ok unpacked"]
    lines += [f"{name}: {value}" for name, value in deb.fields.items() if name != "Package"]
    if deb.conffiles:
        lines += ["Conffiles:", *(f" {path} {_sum(root, path)}" for path in deb.conffiles)]
    return "\n".join(lines) + "\n"


def _sum(root: Root, path: str) -> str:
    entry = root.entries.get(placed(root, path.lstrip("/")))
    content = entry.content.read_bytes() if entry and entry.content else b""
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


def interests(deb: Deb) -> Iterator[tuple[str, str]]:
    """(trigger, what follows the package's name) for each trigger that it waits for."""
    for line in deb.control.get("triggers", b"").decode().splitlines():
        words = line.partition("#")[0].split()
        if words and words[0] in ("interest", "interest-await", "interest-noawait"):
            yield words[1], "/noawait" if words[0] == "interest-noawait" else ""


def write_own(root: Root, further: list[Path], suite: str) -> None:
    """What no package brings."""
    for name in FOLDERS:
        if name not in root.entries:
            root.folder(name)
    root.entries["tmp"] = replace(root.entries["tmp"], mode=0o1777)
    root.entries["root"] = replace(root.entries["root"], mode=0o700)
    root.file("etc/hostname", b"bulkhead\n")
    root.file("etc/hosts", b"127.0.0.1 localhost bulkhead\n")
    root.file("etc/fstab", b"/dev/nvme0n1p1 / ext4 errors=remount-ro 0 1\n")
    root.file("etc/resolv.conf", b"")
    root.file("etc/apt/sources.list", SOURCES.format(suite=suite).encode())
    root.file("etc/dpkg/dpkg.cfg.d/bulkhead", EXCLUDED.encode())
    if "usr/bin/awk" not in root.entries:
        root.link("usr/bin/awk", "mawk")  # scripts of packages call it before the alternatives are set
    for name, where in OWN.items():
        root.file(where, (SCRIPTS / f"disc_{name}.sh").read_bytes(), 0o755)
    for name in ("poweroff", "reboot"):
        root.file(f"usr/local/sbin/{name}", f"#!/bin/sh\nsync\nmount -o remount,ro /\nexec busybox {name} -f\n".encode(), 0o755)
    root.file(FIRST_BOOT, b"")
    for package in further:
        root.file(f"{FURTHER}/{package.name}", package.read_bytes())
