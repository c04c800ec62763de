# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool. A directory or a tar becomes an initramfs that is the same for the same tree; what it cannot hold is refused by name. Modules come with what they need."""

import functools
import gzip
import io
import lzma
import os
import random
import socket
import stat
import struct
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from bhtool.config import initrd
from bhtool.config.bounded import Unbounded
from bhtool.config.domains import Sandbox
from bhtool.config.payload import PayloadError
from bhtool.config.rootfs import entries, modules
from bhtool.config.rootfs.cpio import Archive
from bhtool.config.rootfs.entries import Unpackable, read_tree
from bhtool.config.rootfs.listing import names_in
from bhtool.config.rootfs.pack import archive_of, complete, compressed
from hypothesis import given
from hypothesis import strategies as st

from tests.config.software import LINK, MACHINE, elf


@dataclass(frozen=True)
class Row:
    """One entry of a cpio archive."""

    inode: int
    mode: int
    owner: tuple[int, int]
    links: int
    time: int
    device: tuple[int, int]
    data: bytes


def rows(archive: bytes) -> dict[str, Row]:
    """Read as Linux' Documentation/driver-api/early-userspace/buffer-format.rst says, by nothing of the tool's."""
    found: dict[str, Row] = {}
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        ino, mode, uid, gid, links, time, size, _, _, major, minor, length, _ = (
            int(archive[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)
        )
        name = archive[at + 110 : at + 110 + length - 1].decode()
        begin = at + (110 + length + 3) // 4 * 4
        if name == "TRAILER!!!":
            return found
        assert name not in found
        found[name] = Row(ino, mode, (uid, gid), links, time, (major, minor), archive[begin : begin + size])
        at = begin + (size + 3) // 4 * 4


def packed(path: Path, starts_elsewhere: bool = False) -> dict[str, Row]:
    tree = read_tree(path)
    assert tree is not None
    return rows(archive_of(complete(tree, starts_elsewhere)).plain())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "busybox").write_bytes(b"program" * 100)
    (root / "bin" / "busybox").chmod(0o4755)
    os.link(root / "bin" / "busybox", root / "bin" / "sh")
    os.link(root / "bin" / "busybox", root / "bin" / "ls")
    (root / "init").symlink_to("bin/busybox")
    os.mkfifo(root / "pipe")
    (root / "Zoë.txt").write_text("not ASCII")
    return root


def test_a_directory_is_packed(tree: Path) -> None:
    found = packed(tree)
    assert set(found) == {"bin", "bin/busybox", "bin/sh", "bin/ls", "init", "pipe", "Zoë.txt", "dev", "dev/console", "proc", "sys"}
    assert {(one.owner, one.time) for one in found.values()} == {((0, 0), 0)}
    assert found["init"].mode == stat.S_IFLNK | 0o777
    assert found["init"].data == b"bin/busybox"
    assert found["pipe"].mode == stat.S_IFIFO | stat.S_IMODE((tree / "pipe").stat().st_mode)
    assert found["dev/console"] == Row(found["dev/console"].inode, stat.S_IFCHR | 0o600, (0, 0), 1, 0, (5, 1), b"")


def test_hard_links_stay_one_file(tree: Path) -> None:
    found = packed(tree)
    linked = [found[name] for name in ("bin/busybox", "bin/ls", "bin/sh")]
    assert {(one.inode, one.links, one.mode) for one in linked} == {(linked[0].inode, 3, stat.S_IFREG | 0o4755)}
    assert [one.data for one in linked] == [b"", b"", b"program" * 100]
    others = [one.inode for name, one in found.items() if one not in linked]
    assert len({*others, linked[0].inode}) == len(others) + 1


def test_the_same_tree_gives_the_same_bytes(tree: Path, tmp_path: Path) -> None:
    def content(path: Path) -> bytes:
        found = read_tree(path)
        assert found is not None
        return compressed(archive_of(complete(found, False)))

    before = content(tree)
    os.utime(tree / "bin" / "busybox", (1, 1))
    again = tmp_path / "again"
    subprocess.run(["cp", "-a", tree, again], check=True)
    assert content(tree) == content(again) == before
    (again / "bin" / "busybox").write_bytes(b"another")
    assert content(again) != before


@pytest.mark.parametrize("form", ["", ":gz", ":xz"])
def test_a_tar_gives_what_its_directory_gives(tree: Path, tmp_path: Path, form: str) -> None:
    file = tmp_path / "root.tar"
    with tarfile.open(file, f"w{form}") as tar:  # type: ignore[call-overload]
        tar.add(tree, ".")
    assert {name: (row.mode, row.links, row.owner) for name, row in packed(file).items()} == {
        name: (row.mode, row.links, row.owner) for name, row in packed(tree).items()
    }
    assert packed(file)["bin/sh"].data == b"program" * 100


def test_an_archive_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "root.cpio.gz"
    file.write_bytes(gzip.compress(b"070701"))
    assert read_tree(file) is None


@pytest.mark.parametrize(
    "data",
    [bytes(8192), bytes(1024) + b"ext2" * 100, gzip.compress(bytes(8192), mtime=0), b"", b"\x1f\x8b" + bytes(20), b"ustar" * 200],
    ids=["zeros", "ext2", "gzip", "empty", "cut", "ustar"],
)
def test_zeros_are_no_tar(data: bytes, tmp_path: Path) -> None:
    """As the image of a file system begins."""
    (tmp_path / "image").write_bytes(data)
    assert read_tree(tmp_path / "image") is None


def tar_of(folder: Path, *items: tarfile.TarInfo) -> Path:
    file = folder / "odd.tar"
    with tarfile.open(file, "w", format=tarfile.GNU_FORMAT) as tar:
        for item in items:
            tar.addfile(item, io.BytesIO(bytes(item.size)))
    return file


def item(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 0, device: tuple[int, int] = (0, 0)) -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.size = kind, link, size
    found.devmajor, found.devminor = device
    return found


def test_devices_come_from_a_tar_without_root(tmp_path: Path) -> None:
    file = tar_of(tmp_path, item("/init", size=4), item("./dev", tarfile.DIRTYPE), item("dev/null", tarfile.CHRTYPE, device=(1, 3)))
    found = packed(file)
    assert found["dev/null"].device == (1, 3)
    assert stat.S_ISCHR(found["dev/null"].mode)
    assert found["init"].data == bytes(4)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([item("../escape")], "holds `../escape`, which would lie outside of it"),
        ([item("a/../../b")], "which would lie outside of it"),
        ([item("x", tarfile.LNKTYPE, "nowhere")], "holds `x`, a hard link to `nowhere`, which does not come before it"),
        ([item("bell\a")], r"holds 'bell\x07', whose name is no printable text"),
        ([item("x", b"A")], "of a kind that an initramfs does not have"),
    ],
)
def test_odd_tars_are_refused_by_name(items: list[tarfile.TarInfo], words: str, tmp_path: Path) -> None:
    with pytest.raises(Unpackable) as refused:
        read_tree(tar_of(tmp_path, *items))
    assert words in str(refused.value)
    assert str(refused.value).isprintable()


Damage = Callable[[bytearray], bytearray]
PROGRAM = random.Random(1).randbytes(250_000)  # several blocks of every compressor: of the first, an archive is known to be a tar


def flipped(data: bytearray, at: int) -> bytearray:
    data[at] ^= 0x10
    return data


FLIPPED: Damage = lambda data: flipped(data, len(data) * 15 // 16)  # noqa: E731
CUT: Damage = lambda data: data[: len(data) * 15 // 16]  # noqa: E731
# Where a checksum of the whole stands, from the end: RFC 1952, 2.3 CRC32 before ISIZE; bzip2's in its last bytes; the .xz file format 1.1.0, 2.1.2 footer.
TRAILERS = {"gz": -8, "bz2": -3, "xz": -10}
DAMAGES = {
    **{f"{form} {what}": (form, damage) for form in TRAILERS for what, damage in (("flipped", FLIPPED), ("cut", CUT))},
    **{f"{form} trailer": (form, functools.partial(flipped, at=at)) for form, at in TRAILERS.items()},
    **{f"{form} without trailer": (form, lambda data: data[:-2]) for form in TRAILERS},
    "plain cut": ("", CUT),
    "plain cut between headers": ("", lambda data: data[: 512 + 512]),
    "plain header": ("", lambda data: flipped(data, 512 * 2 + 20)),
}


FAST = {"": {}, "gz": {"compresslevel": 1}, "bz2": {"compresslevel": 1}, "xz": {"preset": 0}}  # and the smallest blocks of bzip2


@functools.cache
def good_tar(form: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=f"w:{form}", **FAST[form]) as tar:  # type: ignore[call-overload]
        for one, content in ((item("init"), bytes(512)), (item("program"), PROGRAM)):
            one.size = len(content)
            tar.addfile(one, io.BytesIO(content))
    return data.getvalue()


@pytest.mark.parametrize("form", FAST)
def test_a_whole_tar_is_not(form: str, tmp_path: Path) -> None:
    (tmp_path / "root.tar").write_bytes(good_tar(form))
    assert packed(tmp_path / "root.tar")["program"].data == PROGRAM


@pytest.mark.parametrize(("form", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_tar_is_refused(form: str, damage: Damage, tmp_path: Path) -> None:
    file = tmp_path / "root.tar"
    file.write_bytes(damage(bytearray(good_tar(form))))
    with pytest.raises(Unpackable, match="is a damaged tar") as refused:
        read_tree(file)
    assert str(refused.value).isprintable()


def test_a_tar_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tar_of(tmp_path, item("init", size=4))
    packed_file = tmp_path / "root.tar.gz"
    packed_file.write_bytes(gzip.compress(file.read_bytes() + bytes(3 << 20), mtime=0))
    assert read_tree(packed_file)
    monkeypatch.setattr(entries, "IMAGE_BYTES", 2 << 20)
    with pytest.raises(Unpackable, match="goes on for more than 2 MiB after the end of its archive"):
        read_tree(packed_file)


@pytest.mark.parametrize("name", [b"bad\nline", b"\xff\xfe", b"\x1b[31m"])
def test_odd_names_are_refused(tree: Path, name: bytes) -> None:
    Path(os.fsdecode(os.fsencode(tree) + b"/" + name)).touch()
    with pytest.raises(Unpackable, match="whose name is no printable text") as refused:
        read_tree(tree)
    assert str(refused.value).isprintable()


def test_sockets_are_refused(tree: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tree / "s"))
    with pytest.raises(Unpackable, match="holds the socket `s`"):
        read_tree(tree)


def test_what_cannot_be_read_is_named(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, most: int) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(entries, "read_bounded", refuse)
    with pytest.raises(Unpackable, match=r"holds `Zoë.txt`, which cannot be read \(Permission denied\)|holds `bin/busybox`, which"):
        read_tree(tree)


def test_a_tree_has_an_end(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MOST_ENTRIES", 3)
    with pytest.raises(Unpackable, match="has more than 3 files"):
        read_tree(tree)
    monkeypatch.setattr(entries, "MOST_ENTRIES", 100)
    monkeypatch.setattr(entries, "IMAGE_BYTES", 1000)
    assert read_tree(tree), "hard links are counted once"
    (tree / "large").write_bytes(bytes(900))
    with pytest.raises(Unpackable, match="that can be packed"):
        read_tree(tree)


def test_something_starts(tree: Path) -> None:
    (tree / "init").unlink()
    with pytest.raises(Unpackable, match="has no `init`, which Linux starts first"):
        packed(tree)
    assert "init" not in packed(tree, starts_elsewhere=True)
    (tree / "sbin").mkdir()
    (tree / "sbin" / "init").symlink_to("../bin/busybox")
    assert packed(tree)["init"].data == b"/sbin/init"


def test_init_behind_a_merged_usr(tree: Path) -> None:
    (tree / "init").unlink()
    (tree / "usr" / "sbin").mkdir(parents=True)
    (tree / "usr" / "sbin" / "init").touch()
    (tree / "sbin").symlink_to("usr/sbin")
    assert packed(tree)["init"].data == b"/usr/sbin/init"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_names_of_an_archive(tree: Path, pack: type[bytes]) -> None:
    found = read_tree(tree)
    assert found is not None
    plain = archive_of(found).plain()
    assert names_in(pack(plain)) == {one.name for one in found}


def test_names_of_every_archive_are_seen(tree: Path) -> None:
    """A PC's initrd begins with one for microcode."""
    found = read_tree(tree)
    assert found is not None
    plain, early = archive_of(found).plain(), Archive()
    early.file("kernel/x86/microcode/AuthenticAMD.bin", b"microcode")
    names = {one.name for one in found} | {"kernel/x86/microcode/AuthenticAMD.bin"}
    assert names_in(early.plain() + plain) == names
    assert names_in(early.plain() + gzip.compress(plain)) == names
    assert names_in(early.plain() + b"\x28\xb5\x2f\xfd" + bytes(200)) is None


def pax(size: int, kind: bytes) -> bytes:
    """A header of an extension that says how long it is."""
    one = tarfile.TarInfo("x")
    one.type, one.size = kind, size
    return one.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize("kind", [*entries.EXTENSIONS, tarfile.GNUTYPE_SPARSE, tarfile.REGTYPE])
@pytest.mark.parametrize("size", [-512, entries.EXTENSION_BYTES + 1])
def test_no_header_of_a_tar_is_read_whole_or_backward(kind: bytes, size: int, tmp_path: Path) -> None:
    """tarfile reads an extension in one go, be it two gigabytes of zeros that xz has made little of."""
    file = tmp_path / "root.tar"
    file.write_bytes(pax(size, kind) + bytes(2 * entries.EXTENSION_BYTES))
    if kind == tarfile.REGTYPE and size > 0:
        assert read_tree(file)
        return
    words = "with holes" if kind == tarfile.GNUTYPE_SPARSE and size > 0 else f"says it has {size:,} bytes"
    with pytest.raises(Unpackable, match=words):
        read_tree(file)


def test_extensions_of_extensions_end(tmp_path: Path) -> None:
    """tarfile calls itself for each."""
    file = tmp_path / "root.tar"
    file.write_bytes(pax(0, tarfile.XGLTYPE) * 2000 + bytes(1024))
    with pytest.raises(Unpackable, match="damaged tar"):
        read_tree(file)


@pytest.mark.parametrize(
    "attributes",
    [
        {"GNU.sparse.size": "512", "GNU.sparse.numblocks": "1", "GNU.sparse.offset": "0", "GNU.sparse.numbytes": "512"},
        {"GNU.sparse.size": "512", "GNU.sparse.numblocks": "1", "GNU.sparse.map": "0,512"},
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "hole", "GNU.sparse.realsize": "0"},
    ],
    ids=["0.0", "0.1", "1.0"],
)
def test_a_map_of_holes_is_not_read(attributes: dict[str, str], tmp_path: Path) -> None:
    """POSIX form 1.0: it stands before the contents, and says itself how long it is. Of the others a file of any length is made."""
    file = tmp_path / "root.tar"
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as tar:
        one = tarfile.TarInfo("hole")
        one.pax_headers = attributes
        one.size = 512
        tar.addfile(one, io.BytesIO(b"0\n".ljust(512, b"\0")))
    with pytest.raises(Unpackable, match="with holes"):
        read_tree(file)


@pytest.mark.parametrize("attribute", ["size", "GNU.sparse.size", "GNU.sparse.realsize"])
@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_no_extended_header_leads_backward(kind: bytes, attribute: str, tmp_path: Path) -> None:
    """Its size wins: tarfile would go back by it and read the same files again, whose sizes it would take off what is counted."""
    record = f" {attribute}=-1536\n".encode()
    record = str(len(record) + 2).encode() + record
    file = tmp_path / "root.tar"
    file.write_bytes(pax(0, tarfile.REGTYPE) + pax(len(record), kind) + record.ljust(512, b"\0") + pax(0, tarfile.REGTYPE) + bytes(1024))
    with pytest.raises(Unpackable, match=r"says it has -1,536 bytes|with holes"):
        read_tree(file)


@pytest.mark.parametrize("name", [".", "same"])
def test_what_a_tar_has_twice_is_counted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """tarfile keeps every header."""
    monkeypatch.setattr(entries, "MOST_ENTRIES", 10)
    file = tmp_path / "root.tar"
    with tarfile.open(file, "w") as tar:
        for _ in range(30):
            tar.addfile(tarfile.TarInfo(name))
    with pytest.raises(Unpackable, match="more than 10 files"):
        read_tree(file)


@pytest.mark.parametrize(
    "data",
    [b"", b"x" * 200, gzip.compress(b"070701" + b"f" * 104, mtime=0), b"\x28\xb5\x2f\xfd" + bytes(200), b"\x1f\x8b" + bytes(9)],
    ids=["empty", "text", "gzip", "zstd", "cut"],
)
def test_what_is_no_archive_has_no_names(data: bytes) -> None:
    assert names_in(data) is None


def zip_of(members: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return file.getvalue()


FAKE = """
#define FIELD(name, text) static const char name[] __attribute__((section(".modinfo"), used)) = text
FIELD(a, "license=GPL"); FIELD(b, "depends={needs}"); FIELD(c, "alias=fake-{name}"); FIELD(d, "alias=pci:v*d*"); FIELD(e, "name={name}");
FIELD(f, "softdep={soft}"); FIELD(g, "alias={alias}");
"""
KERNEL = {"dm-mod": "", "dm_zero": "dm-mod", "e1000e": "ptp", "ptp": "pps_core", "pps_core": "", "circle": "ring", "ring": "circle"}
CARDS = {"sja1000": "", "kvaser_pci": "sja1000", "sja1000_isa": "sja1000"}
SOFT = {"fs": "pre: sum proc-fs unknown post: ring"}
SUMS = {"a_sum_by_instructions": "", "sum_generic": "", "fs": "ptp"}  # two with one alias, and who wants one


@pytest.fixture(scope="session", params=["aarch64-none-elf", "armv7a-none-eabi"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of modules as a compiler makes them, in both classes of ELF files."""
    folder = tmp_path_factory.mktemp("modules")
    members = [("6.1.0-9-test/modules.builtin", b"kernel/fs/proc/proc-fs.ko\n")]
    for name, needs in (KERNEL | SUMS | CARDS).items():
        alias = "sum" if "sum" in name else f"other-{name}"
        text = FAKE.replace("{needs}", needs).replace("{name}", name).replace("{soft}", SOFT.get(name, "")).replace("{alias}", alias)
        command = ["clang-19", f"--target={request.param}", "-ffreestanding", "-c", "-x", "c", "-", "-o", str(folder / "one.o")]
        subprocess.run(command, input=text.encode(), check=True)
        members.append((f"6.1.0-9-test/kernel/drivers/{name}.ko", (folder / "one.o").read_bytes()))
    modules.write_store(folder / "store.zip", iter(members))
    return folder / "store.zip"


def test_modules_come_with_what_they_need(store: Path) -> None:
    found = rows(modules.modules_archive(store, ["dm-zero", "fake-e1000e", "proc_fs"], set()).plain())
    base = "lib/modules/6.1.0-9-test"
    names = {Path(name).name for name in found if name.endswith(".ko")}
    assert names == {"dm_zero.ko", "dm-mod.ko", "e1000e.ko", "ptp.ko", "pps_core.ko"}
    assert found[f"{base}/kernel/drivers/e1000e.ko"].data[:4] == b"\x7fELF"
    lines = found[f"{base}/modules.dep"].data.decode().splitlines()
    path = "kernel/drivers"
    assert f"{path}/dm_zero.ko: {path}/dm-mod.ko" in lines
    assert f"{path}/e1000e.ko: {path}/ptp.ko {path}/pps_core.ko" in lines
    assert f"{path}/pps_core.ko:" in lines
    assert found["etc/modules-load.d/bulkhead.conf"].data == b"dm_zero\ne1000e\n"
    folders = [name for name, row in found.items() if stat.S_ISDIR(row.mode)]
    assert folders == sorted(folders, key=lambda one: (one.count("/"), one))
    assert {"lib", "etc", f"{base}/kernel"} <= set(folders)


def test_what_a_module_asks_for_beforehand_comes_first(store: Path) -> None:
    """By an alias, as ext4 asks for crc32c: of two that have it, the one that runs on every processor."""
    found = rows(modules.modules_archive(store, ["fs"], set()).plain())
    path = "kernel/drivers"
    lines = found["lib/modules/6.1.0-9-test/modules.dep"].data.decode().splitlines()
    assert {line.partition(":")[0] for line in lines} == {f"{path}/{name}.ko" for name in ("fs", "ptp", "pps_core", "sum_generic")}
    assert f"{path}/fs.ko: {path}/sum_generic.ko {path}/ptp.ko {path}/pps_core.ko" in lines


def test_who_may_take_a_modules_place_is_there_and_is_not_loaded(store: Path) -> None:
    found = rows(modules.modules_archive(store, ["kvaser-pci"], set()).plain())
    assert {Path(name).name for name in found if name.endswith(".ko")} == {"kvaser_pci.ko", "sja1000.ko", "sja1000_isa.ko"}
    assert found[modules.LIST].data == b"kvaser_pci\n"


def test_what_the_root_has_stays_what_it_is(store: Path) -> None:
    """/lib is a link where /usr is merged; a folder of that name would replace it."""
    found = rows(modules.modules_archive(store, ["ptp"], {"lib", "etc"}).plain())
    assert not {"lib", "etc"} & set(found)
    assert "lib/modules" in found


def test_a_circle_ends(store: Path) -> None:
    assert {Path(name).name for name in rows(modules.modules_archive(store, ["circle"], set()).plain()) if name.endswith(".ko")} == {
        "circle.ko",
        "ring.ko",
    }


def test_too_many_modules_are_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "MOST", 2)
    with pytest.raises(Unbounded, match="would have 3 modules, 2 at most"):
        modules.modules_archive(store, ["e1000e"], set())


def test_names_are_found(store: Path) -> None:
    index = modules.index_of(store)
    assert [index.find(name) for name in ("dm-zero", "dm_zero.ko", "fake-ptp", "proc-fs", "nothing")] == [
        "dm_zero",
        "dm_zero",
        "ptp",
        "",
        None,
    ]


def test_no_elf_says_nothing() -> None:
    assert modules.information(b"text") == {}


@given(st.integers(0, 63), st.integers(0, 255))
def test_a_damaged_module_has_no_information(at: int, value: int) -> None:
    """Of the header any byte: a table of sections may lie anywhere."""
    module = bytearray(elf(MACHINE["aarch64"], LINK["aarch64"]))
    struct.pack_into("<H", module, 60, 3)
    module[at] = value
    assert modules.information(bytes(module)) == {}
    module[40:48] = b"\xff" * 8
    assert modules.information(bytes(module)) == {}


@pytest.mark.parametrize(
    "content",
    [b"no zip", b"", zip_of({}), zip_of({"index.json": "{}"}), zip_of({"index.json": "[" * 100_000}), zip_of({"index.json": "[]"})],
    ids=["text", "empty", "no index", "no version", "deep", "list"],
)
def test_what_is_no_store_of_modules_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "vmlinuz.modules").write_bytes(content)
    sandbox = SimpleNamespace(name="linux", kernel_package="", node=SimpleNamespace(text=lambda _: "vmlinuz"))
    with pytest.raises(PayloadError, match=r"`vmlinuz\.modules`, where the modules of `linux` are looked for, is no store"):
        initrd._modules(lambda name: tmp_path / name, cast(Sandbox, sandbox), ["virtio_net"], set())
